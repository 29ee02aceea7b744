/* SPDX-License-Identifier: MIT */
/*
 * fleet.c SECONDS -- one of many processes of a host: four threads, of which
 * one works for a millisecond each second and the others wait. Its work
 * is in functions of its own and of libc.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* WORDS: numbers that are sorted. */
enum { WORDS = 2000 };

static int numbers[WORDS];
static char text[1 << 16];

static int
compare(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? -1 : 1;
}

static __attribute__((noinline)) void
sort_numbers(unsigned seed)
{
    for (int i = 0; i < WORDS; i++)
        numbers[i] = rand_r(&seed);
    qsort(numbers, WORDS, sizeof(numbers[0]), compare);
}

static __attribute__((noinline)) void
write_text(void)
{
    size_t length = 0;
    for (int i = 0; i < WORDS; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%d ",
                                   numbers[i]);
}

static __attribute__((noinline)) void
serve_request(unsigned seed)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    long end = time.tv_sec * 1000000 + time.tv_nsec / 1000 + 1000;
    do {
        sort_numbers(seed++);
        write_text();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    } while (time.tv_sec * 1000000 + time.tv_nsec / 1000 < end);
}

static void *
wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    int seconds = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            return 1;
    for (int i = 0; i < seconds; i++) {
        serve_request((unsigned)i);
        usleep(999000);
    }
    _exit(0);
}
