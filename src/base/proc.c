/* SPDX-License-Identifier: MIT */
/* proc.c -- see proc.h. */
#include <string.h>
#include <sys/stat.h>

#include "digits.h"
#include "sys.h"
#include "text.h"
#include "proc.h"
#include "poison.h"

const char *
proc_path(char *path, pid_t pid, pid_t tid, const char *file)
{
    struct text text;
    text_begin(&text, path, PROC_PATH_SIZE);
    text_add(&text, tid == PROC_CALLER ? "/proc/thread-self" : "/proc/");
    if (tid != PROC_CALLER && pid == 0)
        text_add(&text, "self");
    else if (tid != PROC_CALLER)
        text_add_number(&text, (uint64_t)pid);
    if (tid >= 0) {
        text_add(&text, "/task/");
        text_add_number(&text, (uint64_t)tid);
    }
    text_add(&text, file);
    return path;
}

long
proc_read(pid_t pid, pid_t tid, const char *file, char *buffer, size_t size)
{
    char path[PROC_PATH_SIZE];
    return sys_read_file(proc_path(path, pid, tid, file), buffer, size);
}

const char *
proc_stat_field(const char *stat, unsigned field)
{
    const char *at = strrchr(stat, ')');
    for (unsigned i = 2; at != NULL && i < field; i++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? at : "";
}

const char *
proc_status_line(const char *status, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = status; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, "\t ");
    }
    return "";
}

uint64_t
proc_number(const char *text)
{
    return digits_take(&text);
}

uint64_t
proc_bits(const char *text)
{
    return digits_take_hex(&text);
}

pid_t
proc_tracer(void)
{
    char status[2048];
    if (proc_read(0, PROC_CALLER, "/status", status, sizeof(status)) <= 0)
        return 0;
    return (pid_t)proc_number(proc_status_line(status, "TracerPid"));
}

uint32_t
proc_namespace(void)
{
    struct stat namespace;
    return sys_stat("/proc/self/ns/pid", &namespace) == 0
               ? (uint32_t) namespace.st_ino
               : 0;
}

size_t
proc_boot(char text[PROC_BOOT_SIZE])
{
    long got =
        sys_read_file("/proc/sys/kernel/random/boot_id", text, PROC_BOOT_SIZE);
    if (got != PROC_BOOT_SIZE - 1)
        text[0] = '\0';
    return got == PROC_BOOT_SIZE - 1 ? PROC_BOOT_SIZE - 1 : 0;
}
