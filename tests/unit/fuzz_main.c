/* SPDX-License-Identifier: MIT */
/*
 * fuzz_main.c -- a fuzzer for compilers without one: "fuzz_reader N [SEED...]"
 * makes N inputs from a small spool (or from the files SEED) by a few random
 * changes each. The random numbers are the same in every run, so a failure can
 * be met again; the number of the input is printed when a signal ends it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "spool_maker.h"

#define SIZE_MOST 65536

static uint64_t random_state = 88172645463325252u;
static volatile unsigned long input_number;

/* Marsaglia's xorshift64. */
static uint64_t
random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t
random_below(size_t limit)
{
    return limit == 0 ? 0 : (size_t)(random_word() % limit);
}

/* A number on which arithmetic likes to fail. */
static uint64_t
bad_number(void)
{
    static const uint64_t numbers[] = {0,          1,          7,
                                       8,          15,         16,
                                       0x7fff,     0xffff,     0x10000,
                                       0x7fffffff, 0x80000000, 0xfffffff8,
                                       ~0ull,      1 << 24,    0x1fffffff,
                                       0x20000000, 0x40000000, 1ull << 63};

    return numbers[random_below(sizeof(numbers) / sizeof(numbers[0]))];
}

/* Write a bad number of 1, 2, 4 or 8 bytes somewhere, mostly aligned. */
static void
change_number(unsigned char *data, size_t size)
{
    size_t width = (size_t)1 << random_below(4), at;
    uint64_t number = bad_number();

    if (size < 8)
        return;
    at = random_below(size - 7);
    if (random_below(8) > 0)
        at = at / width * width;
    memcpy(data + at, &number, width);
}

/* Move a stretch of bytes over another. */
static void
copy_stretch(unsigned char *data, size_t size)
{
    size_t length = random_below(size / 2) / 8 * 8;
    size_t from = random_below(size - length) / 8 * 8;
    size_t to = random_below(size - length) / 8 * 8;

    memmove(data + to, data + from, length);
}

/* One change to SIZE bytes. Returns their new number. */
static size_t
change(unsigned char *data, size_t size)
{
    if (size == 0)
        return size;
    switch (random_below(8)) {
    case 0:
        data[random_below(size)] ^= (unsigned char)(1u << random_below(8));
        break;
    case 1:
        data[random_below(size)] = (unsigned char)random_word();
        break;
    case 2:
        copy_stretch(data, size);
        break;
    case 3:
        return random_below(4) == 0 ? random_below(size) : size;
    default:
        change_number(data, size);
    }
    return size;
}

static void
name_input(int signo)
{
    char text[64];
    int length =
        snprintf(text, sizeof(text), "fuzz: input %lu failed\n", input_number);

    if (write(2, text, (size_t)length) != length)
        _exit(2);
    signal(signo, SIG_DFL);
    raise(signo);
}

/* Try COUNT inputs made of SEED, in memory of their exact size. */
static void
try_changes(const unsigned char *seed, size_t length, unsigned long count)
{
    static unsigned char data[SIZE_MOST];

    while (count-- > 0) {
        size_t changes = random_below(8), size = length;
        unsigned char *exact;

        memcpy(data, seed, length);
        while (changes-- > 0)
            size = change(data, size);
        exact = malloc(size + (size == 0));
        if (exact == NULL)
            return;
        memcpy(exact, data, size);
        input_number++;
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
}

static int
try_file(const char *path, unsigned long count)
{
    size_t length = 0;
    unsigned char *seed = maker_bytes(path, &length);

    if (seed == NULL) {
        perror(path);
        return -1;
    }
    try_changes(seed, length < SIZE_MOST ? length : SIZE_MOST, count);
    free(seed);
    return 0;
}

int
main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    int i, result = 0;

    signal(SIGSEGV, name_input);
    signal(SIGBUS, name_input);
    signal(SIGABRT, name_input);
    if (argc <= 2) {
        result = maker_begin(NULL) != 0 ||
                 maker_small_spool(maker_path("seed")) != 0 ||
                 try_file(maker_path("seed"), count) != 0;
        maker_end(NULL);
    }
    for (i = 2; i < argc; i++)
        result |= try_file(argv[i], count / (unsigned long)(argc - 2)) != 0;
    printf("fuzz: %lu inputs\n", input_number);
    return result;
}
