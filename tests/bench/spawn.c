/* SPDX-License-Identifier: MIT */
/*
 * spawn.c -- starts a short program again and again, in turn with each of
 * several environments, and prints what every start cost. Usage:
 *
 *   spawn ROUNDS PRELOAD[,NAME=VALUE...] ... -- PROGRAM [ARGUMENT...]
 *
 * Each set of the second argument kind is one variant: a library to preload,
 * "-" for none, then variables. One line a round, for each variant in the order
 * given: wall nanoseconds from before posix_spawn to after wait4, and CPU
 * microseconds of the child. The variant that goes first rotates. A small
 * C program does this because the fork of an interpreter costs more than
 * what is measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VARIANTS 8
#define VARIABLES 64

extern char **environ;

struct variant {
    char *variables[VARIABLES + 1];
    uint64_t wall; /* ns */
    uint64_t cpu;  /* us */
};

static uint64_t
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The environment that we have, then LD_PRELOAD and what follows it in TEXT,
 * which is cut up in place. */
static int
variant_parse(struct variant *variant, char *text)
{
    size_t count = 0;
    char *library = strtok(text, ",");
    char *variable;

    for (char **each = environ; *each && count < VARIABLES / 2; each++)
        variant->variables[count++] = *each;
    if (library && strcmp(library, "-") != 0) {
        variable = malloc(strlen(library) + sizeof("LD_PRELOAD="));
        if (!variable)
            return -1;
        strcpy(variable, "LD_PRELOAD=");
        strcat(variable, library);
        variant->variables[count++] = variable;
    }
    while ((variable = strtok(NULL, ",")) && count < VARIABLES)
        variant->variables[count++] = variable;
    variant->variables[count] = NULL;
    return 0;
}

static int
variant_run(struct variant *variant, char **command)
{
    struct rusage usage;
    uint64_t start = now();
    pid_t pid;
    int status;

    errno =
        posix_spawnp(&pid, command[0], NULL, NULL, command, variant->variables);
    if (errno != 0)
        return -1;
    if (wait4(pid, &status, 0, &usage) != pid)
        return -1;
    variant->wall = now() - start;
    variant->cpu =
        (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
        (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return 0;
}

int
main(int argc, char **argv)
{
    static struct variant variants[VARIANTS];
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    size_t count = 0;
    int i;

    for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (count == VARIANTS || variant_parse(&variants[count++], argv[i]) < 0)
            return 2;
    if (i + 1 >= argc || count == 0) {
        fprintf(stderr, "usage: spawn ROUNDS VARIANT... -- PROGRAM\n");
        return 2;
    }
    for (unsigned long round = 0; round < rounds; round++) {
        for (size_t n = 0; n < count; n++)
            if (variant_run(&variants[(round + n) % count], argv + i + 1) < 0) {
                perror(argv[i + 1]);
                return 1;
            }
        for (size_t n = 0; n < count; n++)
            printf("%llu %llu ", (unsigned long long)variants[n].wall,
                   (unsigned long long)variants[n].cpu);
        printf("\n");
    }
    return 0;
}
