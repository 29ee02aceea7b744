/* SPDX-License-Identifier: MIT */
/*
 * fuzz_main.c -- a fuzzer for compilers without one: "fuzz_NOUN COUNT PATH..."
 * tries the files PATH, or those in the folders PATH, as they are, and then
 * COUNT inputs made of them by a few random changes each. The random numbers
 * are the same in every run, so a failure can be met again; the file and the
 * number of the input are printed when a signal ends it.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define SIZE_MOST 65536
#define FILES_MOST 1000
#define CRASH_STATUS 2

/* An input as it lies on disk. */
struct seed {
    char *path;
    unsigned char *bytes;
    size_t size;
};

static struct seed seeds[FILES_MOST];
static size_t seed_count;
static const struct seed *tried;

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
    char text[512];
    int length = snprintf(text, sizeof(text), "fuzz: input %lu failed: %s\n",
                          input_number, tried->path);

    if (write(2, text, (size_t)length) != length)
        _exit(CRASH_STATUS);
    signal(signo, SIG_DFL);
    raise(signo);
}

/* Try SIZE bytes, in memory of their exact size. */
static void
try_bytes(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size + (size == 0));

    if (exact == NULL)
        return;
    if (size > 0)
        memcpy(exact, bytes, size);
    input_number++;
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

/* Try one input made of SEED. */
static void
try_changed(const struct seed *seed)
{
    static unsigned char data[SIZE_MOST];
    size_t changes = 1 + random_below(8), size = seed->size;

    if (size > SIZE_MOST)
        size = SIZE_MOST;
    if (size > 0)
        memcpy(data, seed->bytes, size);
    while (changes-- > 0)
        size = change(data, size);
    tried = seed;
    try_bytes(data, size);
}

/* Add the file PATH. Returns 0, or -1 if it is not one or cannot be read. */
static int
add_file(const char *path)
{
    struct seed seed = {0};
    FILE *file = fopen(path, "rb");
    char buffer[4096];
    size_t got = 0;

    if (file == NULL || seed_count == FILES_MOST)
        goto err0;
    while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0) {
        seed.bytes = realloc(seed.bytes, seed.size + got);
        if (seed.bytes == NULL)
            goto err1;
        memcpy(seed.bytes + seed.size, buffer, got);
        seed.size += got;
    }
    seed.path = strdup(path);
    if (ferror(file) || seed.path == NULL)
        goto err1;
    fclose(file);
    seeds[seed_count++] = seed;
    return 0;

err1:
    fclose(file);
err0:
    return -1;
}

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Add the file PATH, or the files in the folder PATH in order of name. */
static int
add_path(const char *path)
{
    struct dirent **names;
    char file[4096];
    int result = 0, count = scandir(path, &names, NULL, compare_names);

    if (count < 0)
        return add_file(path);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            result |= add_file(file);
        free(names[i]);
    }
    free(names);
    return result;
}

int
main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

    signal(SIGSEGV, name_input);
    signal(SIGBUS, name_input);
    signal(SIGFPE, name_input);
    signal(SIGABRT, name_input);
    for (int i = 2; i < argc; i++)
        if (add_path(argv[i]) != 0) {
            perror(argv[i]);
            return 1;
        }
    if (seed_count == 0) {
        fprintf(stderr, "usage: %s COUNT PATH...\n", argv[0]);
        return 1;
    }
    for (size_t i = 0; i < seed_count; i++) {
        tried = &seeds[i];
        try_bytes(seeds[i].bytes, seeds[i].size);
    }
    while (count-- > 0)
        try_changed(&seeds[random_below(seed_count)]);
    printf("fuzz: %lu inputs\n", input_number);
    return 0;
}
