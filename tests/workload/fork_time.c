/* SPDX-License-Identifier: MIT */
/*
 * fork_time.c -- forks that take long, because the kernel copies a page table
 * of many small pages. Says what part of the main thread's CPU time they took:
 * "fork: 41.0". With RAW the fork is libc's own name for it, which has no hook.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define BYTES (150ul << 20)
#define FORKS 25u
#define COMPUTE_MS 60u

/* GLIBC_2.2.5; no header declares it. */
pid_t __fork(void);

static double
cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns how long the forks took. */
FRAME static double
fork_often(pid_t (*fork_by)(void))
{
    double sum = 0;
    for (unsigned i = 0; i < FORKS; i++) {
        double before = cpu_ms();
        pid_t child = fork_by();
        if (child == 0)
            _exit(0);
        sum += cpu_ms() - before;
        if (child < 0 || waitpid(child, NULL, 0) != child)
            work_fail("fork");
    }
    return sum;
}

int
main(int argc, char **argv)
{
    int is_raw = argc > 1 && strcmp(argv[1], "raw") == 0;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, BYTES, MADV_NOHUGEPAGE) != 0)
        work_fail("mmap");
    for (unsigned long at = 0; at < BYTES; at += 4096)
        memory[at] = 1;
    (void)work_burn(COMPUTE_MS);
    double forks = fork_often(is_raw ? __fork : fork);
    (void)work_burn(COMPUTE_MS);
    printf("fork: %.1f\n", 100 * forks / cpu_ms());
    puts("ok");
    return 0;
}
