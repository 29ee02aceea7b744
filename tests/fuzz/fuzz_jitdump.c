/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jitdump.c -- any bytes as a jitdump: whatever its records say, a name
 * covers what is asked for, and looking twice gives the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/generated_code.h"

#include "fuzz.h"

static void
ask(struct generated_code *codes, uint64_t address, uint64_t time)
{
    uint32_t code = generated_code_find(codes, address, time);
    const struct symbol *symbol = generated_code_symbol(codes, code, address);

    if (code != generated_code_find(codes, address, time) ||
        symbol != generated_code_symbol(codes, code, address) ||
        (code != GENERATED_CODE_NONE) != (symbol != NULL))
        abort();
    if (!generated_code_has_several(codes, address) &&
        code != generated_code_find(codes, address, 0))
        abort();
    if (symbol != NULL &&
        (!symbol->named || symbol->count != 1 ||
         symbol->frames[0].function == NULL ||
         symbol->frames[0].linkage == NULL || symbol->frames[0].file == NULL))
        abort();
}

/* The words in DATA are what is worth asking for. */
static void
ask_all(struct generated_code *codes, const uint8_t *data, size_t size)
{
    uint64_t word, time = 0;

    for (size_t at = 0; at + sizeof word <= size; at += 4) {
        memcpy(&word, data + at, sizeof word);
        ask(codes, word, time);
        ask(codes, word - 1, UINT64_MAX);
        time = word;
    }
    ask(codes, 0, 0);
    ask(codes, UINT64_MAX, UINT64_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct jitdump_process process = {.pid = 4711,
                                                   .monotonic = 1u << 20};
    char path[64];

    snprintf(path, sizeof(path), "/tmp/fuzz_jitdump.%d", getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
    struct generated_code *codes = generated_code_new(&process);
    if (codes == NULL || generated_code_add(codes, path, UINT64_MAX) != 0)
        abort();
    ask_all(codes, data, size);
    unlink(path);
    generated_code_free(codes);
    return 0;
}
