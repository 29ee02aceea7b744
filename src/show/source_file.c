/* SPDX-License-Identifier: MIT */
/* source_file.c -- see source_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/elf_view.h"
#include "source_file.h"

/* Columns from one tab stop to the next. */
enum { TAB = 8 };

/* Open PATH below --sysroot, or else on this machine, where the developer may
 * have it. A pipe or a terminal would wait for its other end without
 * O_NONBLOCK. */
static int
open_path(const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char text[PATH_MAX];
    const char *place = elf_view_place(path, text);
    int fd = open(place, flags);
    return fd < 0 && place != path ? open(path, flags) : fd;
}

int
source_file_open(struct source_file *source, const char *path,
                 const char **problem)
{
    struct stat status;
    int fd = open_path(path);
    *source = (struct source_file){0};
    *problem = "not a file";
    if (fd < 0 || fstat(fd, &status) != 0) {
        *problem = strerror(errno);
        goto err0;
    }
    if (!S_ISREG(status.st_mode))
        goto err0;
    source->changed = status.st_mtime;
    source->stream = fdopen(fd, "r");
    if (source->stream != NULL)
        return 0;
    *problem = strerror(errno);
err0:
    if (fd >= 0)
        close(fd);
    return -1;
}

bool
source_file_next(struct source_file *source)
{
    size_t length = 0;
    if (getline(&source->raw, &source->raw_size, source->stream) < 0)
        return false;
    source->number++;
    for (const char *at = source->raw;
         *at != '\0' && *at != '\r' && *at != '\n' &&
         length < SOURCE_FILE_LINE - TAB - 1;
         at++) {
        if (*at == '\t') {
            do
                source->line[length++] = ' ';
            while (length % TAB != 0);
        } else {
            bool is_control = (unsigned char)*at < ' ' || *at == 0x7f;
            source->line[length++] = is_control ? '?' : *at;
        }
    }
    source->line[length] = '\0';
    return true;
}

void
source_file_close(struct source_file *source)
{
    if (source->stream != NULL)
        fclose(source->stream);
    free(source->raw);
    *source = (struct source_file){0};
}
