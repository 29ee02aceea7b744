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

#include "symbol/image.h"
#include "symbol/inflate.h"

#include "fuzz.h"

#define FRAMES 32
#define STEP 0x64
#define ADDRESSES 0x10000

static volatile uint64_t sink;

static void
find(struct image *image, uint64_t address)
{
    struct unit_frame frames[FRAMES];
    struct image_answer answer = {.frames = frames};

    image_find(image, address, &answer, FRAMES);
    if (answer.count > FRAMES)
        abort();
    if (answer.symbol != NULL)
        sink += strlen(answer.symbol);
    for (unsigned i = 0; i < answer.count; i++) {
        if (frames[i].name != NULL)
            sink += strlen(frames[i].name);
        if (frames[i].file != NULL)
            sink += strlen(frames[i].file);
    }
}

static void
ask(const char *path, uint64_t first)
{
    struct image *image = image_open(path, NULL, 0);

    if (image == NULL)
        abort();
    find(image, first);
    for (uint64_t address = 0; address < ADDRESSES; address += STEP)
        find(image, address);
    if (image_problem(image) != NULL)
        sink += strlen(image_problem(image));
    image_close(image);
}

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
    ask(path, first);
    if (inflate_file(&inflated, fd))
        inflate_free(&inflated);
    close(fd);
    return 0;
}
