/* SPDX-License-Identifier: MIT */
/* file_name.c -- see file_name.h. */
#include <limits.h>
#include <string.h>

#include "base/formats.h"
#include "base/text.h"
#include "file_name.h"

const char *
file_name_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

size_t
file_name_stem(const char *path)
{
    static const char *const endings[] = {
#define FORMAT(id, ending, ...) ending,
        FORMAT_TABLE(FORMAT)
#undef FORMAT
            FILE_NAME_SPOOL};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t cut = strlen(endings[i]);
        if (length > cut && strcmp(path + length - cut, endings[i]) == 0)
            return length - cut;
    }
    return length;
}

void
file_name_insert(char *path, const char *word, uint64_t number)
{
    char ending[64];
    struct text text;
    size_t stem = file_name_stem(path);
    strncpy(ending, path + stem, sizeof(ending) - 1);
    ending[sizeof(ending) - 1] = '\0';
    text_begin(&text, path + stem, PATH_MAX - stem);
    text_add(&text, ".");
    text_add(&text, word);
    text_add_number(&text, number);
    text_add(&text, ending);
}
