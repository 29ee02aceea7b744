/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf.c -- any bytes as an ELF file whose symbols, lines and PLT stubs are
 * asked for. The first 8 bytes are one of the addresses, so that a fuzzer finds
 * its way to what it has changed; the others are spread over the first 64 KiB.
 * The same bytes are also inflated as if they were of a debug file.
 * libdw and libelf read too; they are not ours, but what they do is our crash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/inflate.h"

#include "fuzz.h"
#include "fuzz_image.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    uint64_t first;
    struct inflated inflated;
    int fd;

    if (size < sizeof(first))
        return 0;
    memcpy(&first, data, sizeof(first));
    data += sizeof(first);
    size -= sizeof(first);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    fuzz_ask(path, first);
    fuzz_ask_briefly(path, first);
    (void)inflate_open(&inflated, fd);
    inflate_free(&inflated);
    close(fd);
    return 0;
}
