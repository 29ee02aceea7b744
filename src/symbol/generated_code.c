/* SPDX-License-Identifier: MIT */
/*
 * generated_code.c -- see generated_code.h. The number of a code is its number
 * in its file, plus 1, plus FILE_STEP for each file before that.
 */
#include <stdlib.h>
#include <string.h>

#include "time_index.h"
#include "generated_code.h"

#define FILE_STEP (2 * TIME_INDEX_MOST)

struct file {
    char *path;
    uint64_t seen;
    struct jitdump *dump; /* NULL: not read */
};

struct generated_code {
    struct jitdump_process process;
    struct file files[GENERATED_CODE_FILES];
    uint32_t file_count;
    uint32_t version;
    uint32_t sharers; /* owners beside the first */
};

struct generated_code *
generated_code_new(const struct jitdump_process *process)
{
    struct generated_code *codes = calloc(1, sizeof(*codes));
    if (codes != NULL)
        codes->process = *process;
    return codes;
}

struct generated_code *
generated_code_share(struct generated_code *codes)
{
    codes->sharers++;
    return codes;
}

int
generated_code_add(struct generated_code *codes, const char *path,
                   uint64_t seen)
{
    for (uint32_t i = 0; i < codes->file_count; i++)
        if (strcmp(codes->files[i].path, path) == 0)
            return 0;
    if (codes->file_count == GENERATED_CODE_FILES)
        return 0;
    struct file *file = &codes->files[codes->file_count];
    *file = (struct file){.path = strdup(path), .seen = seen};
    if (file->path == NULL)
        return -1;
    codes->file_count++;
    codes->version++;
    return 0;
}

/* The dump of file I, which is read at the first call. NULL if memory is short.
 */
static struct jitdump *
dump_of(struct generated_code *codes, uint32_t i)
{
    struct file *file = &codes->files[i];
    if (file->dump == NULL)
        file->dump = jitdump_open(file->path, &codes->process, file->seen);
    return file->dump;
}

/* A file that has the address by TIME is preferred to one that has it later. If
 * two have it, the later code counts. */
uint32_t
generated_code_find(struct generated_code *codes, uint64_t address,
                    uint64_t time)
{
    uint32_t found = GENERATED_CODE_NONE;
    uint64_t latest = 0;
    for (uint32_t i = 0; i < codes->file_count; i++) {
        struct jitdump *dump = dump_of(codes, i);
        uint64_t since = 0;
        uint32_t code = dump != NULL ? jitdump_find(dump, address, time, &since)
                                     : TIME_INDEX_NONE;
        if (code == TIME_INDEX_NONE ||
            (found != GENERATED_CODE_NONE && (since > time || since < latest)))
            continue;
        found = i * FILE_STEP + code + 1;
        latest = since <= time ? since : 0;
    }
    return found;
}

bool
generated_code_has_several(struct generated_code *codes, uint64_t address)
{
    unsigned count = 0;
    uint64_t since;
    for (uint32_t i = 0; i < codes->file_count; i++) {
        struct jitdump *dump = dump_of(codes, i);
        if (dump == NULL)
            continue;
        if (jitdump_has_several(dump, address))
            return true;
        count += jitdump_find(dump, address, 0, &since) != TIME_INDEX_NONE;
    }
    return count > 1;
}

const struct symbol *
generated_code_symbol(struct generated_code *codes, uint32_t number,
                      uint64_t address)
{
    if (number == GENERATED_CODE_FIRST)
        number = generated_code_find(codes, address, 0);
    if (number == GENERATED_CODE_NONE ||
        (number - 1) / FILE_STEP >= codes->file_count)
        return NULL;
    struct jitdump *dump = dump_of(codes, (number - 1) / FILE_STEP);
    return dump != NULL
               ? jitdump_symbol(dump, (number - 1) % FILE_STEP, address)
               : NULL;
}

const char *
generated_code_problem(const struct generated_code *codes, unsigned i)
{
    return i < codes->file_count && codes->files[i].dump != NULL
               ? jitdump_problem(codes->files[i].dump)
               : NULL;
}

bool
generated_code_has_news(const struct generated_code *codes)
{
    for (uint32_t i = 0; i < codes->file_count; i++)
        if (codes->files[i].dump != NULL &&
            jitdump_has_grown(codes->files[i].dump))
            return true;
    return false;
}

uint32_t
generated_code_version(const struct generated_code *codes)
{
    return codes->version;
}

void
generated_code_forget(struct generated_code *codes)
{
    codes->version++;
    for (uint32_t i = 0; i < codes->file_count; i++) {
        jitdump_close(codes->files[i].dump);
        codes->files[i].dump = NULL;
    }
}

void
generated_code_free(struct generated_code *codes)
{
    if (codes == NULL || codes->sharers-- > 0)
        return;
    generated_code_forget(codes);
    for (uint32_t i = 0; i < codes->file_count; i++)
        free(codes->files[i].path);
    free(codes);
}
