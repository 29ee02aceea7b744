/* SPDX-License-Identifier: MIT */
/*
 * fuzz_package.c -- any bytes as a library and the package of split debug
 * information beside it: 8 bytes of an address, 4 with the size of the library,
 * the library, the package.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_image.h"

static char directory[] = "/tmp/fuzz_package.XXXXXX";
static char library[64], package[64];

static void
clean_up(void)
{
    unlink(library);
    unlink(package);
    rmdir(directory);
}

static void
begin(void)
{
    if (library[0] != '\0')
        return;
    if (mkdtemp(directory) == NULL)
        abort();
    snprintf(library, sizeof(library), "%s/library", directory);
    snprintf(package, sizeof(package), "%s/library.dwp", directory);
    atexit(clean_up);
}

static void
put(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t first;
    uint32_t split;

    if (size < sizeof(first) + sizeof(split))
        return 0;
    memcpy(&first, data, sizeof(first));
    memcpy(&split, data + sizeof(first), sizeof(split));
    data += sizeof(first) + sizeof(split);
    size -= sizeof(first) + sizeof(split);
    if (split > size)
        return 0;
    begin();
    put(library, data, split);
    put(package, data + split, size - split);
    fuzz_ask(library, first);
    return 0;
}
