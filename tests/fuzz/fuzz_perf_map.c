/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perf_map.c -- any bytes as a perf map: whatever its lines say, a name
 * covers what is asked for, and looking twice gives the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/perf_map.h"

#include "fuzz.h"

static void
ask(struct perf_map *map, uint64_t address)
{
    const struct symbol *symbol = perf_map_find(map, address);

    if (symbol != perf_map_find(map, address))
        abort();
    if (symbol != NULL &&
        (!symbol->named || symbol->count != 1 ||
         symbol->frames[0].function == NULL ||
         symbol->frames[0].linkage == NULL || symbol->frames[0].file == NULL))
        abort();
}

/* The numbers in DATA are what is worth asking for. */
static void
ask_all(struct perf_map *map, const uint8_t *data, size_t size)
{
    char text[20] = "";

    for (size_t at = 0; at < size; at++) {
        size_t length = size - at < 16 ? size - at : 16;
        if (at > 0 && data[at - 1] != '\n' && data[at - 1] != ' ')
            continue;
        memcpy(text, data + at, length);
        text[length] = '\0';
        uint64_t address = strtoull(text, NULL, 16);
        ask(map, address);
        ask(map, address - 1);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/tmp/fuzz_perf_map.%d", getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
    struct perf_map *map = perf_map_open(path, 0, UINT64_MAX);
    unlink(path);
    if (map == NULL || perf_map_problem(map) != NULL)
        abort();
    ask_all(map, data, size);
    ask(map, 0);
    ask(map, UINT64_MAX);
    perf_map_close(map);
    return 0;
}
