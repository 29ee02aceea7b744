/* SPDX-License-Identifier: MIT */
/* fuzz_image.c -- see fuzz_image.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/image.h"

#include "fuzz_image.h"

#define FUZZ_FRAMES 32
#define FUZZ_STEP 0x64
#define FUZZ_ADDRESSES 0x10000

static volatile uint64_t fuzz_sink;

static void
fuzz_find(struct image *image, uint64_t address)
{
    struct unit_frame frames[FUZZ_FRAMES];
    struct image_answer answer = {.frames = frames};

    image_find(image, address, &answer, FUZZ_FRAMES);
    if (answer.count > FUZZ_FRAMES)
        abort();
    if (answer.symbol != NULL)
        fuzz_sink += strlen(answer.symbol);
    for (unsigned i = 0; i < answer.count; i++) {
        if (frames[i].name != NULL)
            fuzz_sink += strlen(frames[i].name);
        if (frames[i].file != NULL)
            fuzz_sink += strlen(frames[i].file);
    }
}

void
fuzz_ask(const char *path, uint64_t first)
{
    struct image *image = image_open(path, NULL, 0);

    if (image == NULL)
        abort();
    fuzz_find(image, first);
    for (uint64_t address = 0; address < FUZZ_ADDRESSES; address += FUZZ_STEP)
        fuzz_find(image, address);
    if (image_problem(image) != NULL)
        fuzz_sink += strlen(image_problem(image));
    image_close(image);
}

void
fuzz_ask_briefly(const char *path, uint64_t first)
{
    enum { COUNT = FUZZ_ADDRESSES / FUZZ_STEP };
    struct symbol_question questions[COUNT + 1] = {0};
    struct sketch sketch;
    struct image *image;
    size_t count = 0;

    if (sketch_open(&sketch, path, NULL, 0) != 0)
        return;
    fuzz_sink += sketch_cost(&sketch);
    if (first < FUZZ_STEP)
        questions[count++].offset = first;
    for (uint64_t address = FUZZ_STEP; address < FUZZ_ADDRESSES;
         address += FUZZ_STEP)
        questions[count++].offset = address;
    if (first >= FUZZ_ADDRESSES)
        questions[count++].offset = first;
    image = image_open_brief(&sketch, questions, count);
    if (image == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        fuzz_find(image, questions[i].offset);
    image_close(image);
}
