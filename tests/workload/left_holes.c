/* SPDX-License-Identifier: MIT */
/*
 * left_holes.c -- leaves a hole in the address space, does what makes the
 * profiler work, and needs the hole again. Each hole is the highest one, which
 * the kernel gives to the next caller of mmap(2).
 *
 * Usage: left_holes compute|fork|exec|main|grow
 * Prints "ok", or what is wrong.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* Bytes of a hole: more than any stack of the profiler. */
#define HOLE (64ul << 20)

/* Milliseconds of CPU time in which sampling has begun. */
#define WORK 200

/* The kernel keeps so many pages free below a stack that grows
 * (stack_guard_gap), and this many are mapped at first. */
#define GAP 256
#define MAPPED 64

/* Recursive calls of 1 KiB each: some more than are mapped. */
#define CALLS 300

static volatile uint64_t sink;
static volatile int deepest;

static char *
map(char *at, size_t size, int access, int flags)
{
    return mmap(at, size, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/* Fill all holes that lie above AREA. */
static void
fill_above(const char *area)
{
    char *page;
    while ((page = map(NULL, PAGE, PROT_NONE, 0)) > area && page != MAP_FAILED)
        continue;
    munmap(page, PAGE);
}

static char *
make_hole(void)
{
    char *area = map(NULL, HOLE, PROT_NONE, 0);
    fill_above(area);
    munmap(area, HOLE);
    return area;
}

/* Whether the hole at AREA is as it was left. */
static bool
is_vacant(const char *when, char *area)
{
    if (map(area, HOLE, PROT_NONE, MAP_FIXED_NOREPLACE) == area) {
        munmap(area, HOLE);
        return true;
    }
    printf("%s: the hole is no longer free\n", when);
    return false;
}

static bool
compute(void)
{
    char *hole = make_hole();
    sink += work_burn(WORK);
    return is_vacant("compute", hole);
}

static bool
ends_well(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    if (status != 0)
        printf("a child ends with status %x\n", (unsigned)status);
    return status == 0;
}

static bool
forks(void)
{
    sink += work_burn(WORK);
    char *hole = make_hole();
    pid_t pid = fork();
    if (pid == 0) {
        sink += work_burn(WORK);
        bool is_right = is_vacant("the child", hole);
        fflush(stdout);
        _exit(!is_right);
    }
    return ends_well(pid) && is_vacant("the parent", hole);
}

/* An exec that fails only in the kernel: the profile ends, and begins anew. */
static bool
fails_to_execute(void)
{
    char path[] = "left_holes.XXXXXX", *arguments[] = {path, NULL};
    int fd = mkstemp(path);
    sink += work_burn(WORK);
    if (fd < 0 || write(fd, "no program", 10) != 10 || fchmod(fd, 0700) != 0)
        return false;
    close(fd);
    char *hole = make_hole();
    execv(path, arguments);
    sink += work_burn(WORK);
    unlink(path);
    return is_vacant("an exec that failed", hole);
}

static void *
outlive_main(void *main)
{
    sink += work_burn(WORK);
    char *hole = make_hole();
    pthread_barrier_wait(main);
    sink += work_burn(WORK);
    if (is_vacant("without its main thread", hole))
        puts("ok");
    exit(0);
}

static void *
leave_first(void *unused)
{
    (void)unused;
    pthread_exit(NULL);
}

/* The first pthread_exit loads a library. */
static bool
leaves(void)
{
    static pthread_barrier_t barrier;
    pthread_t thread;
    pthread_create(&thread, NULL, leave_first, NULL);
    pthread_join(thread, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, outlive_main, &barrier);
    pthread_barrier_wait(&barrier);
    pthread_exit(NULL);
}

__attribute__((noinline)) static void
descend(int calls)
{
    char room[1024];
    memset(room, calls, sizeof(room));
    deepest = calls;
    if (calls > 0)
        descend(calls - 1);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static void *
descend_thread(void *unused)
{
    sink += work_burn(50);
    descend(CALLS);
    return unused;
}

/* A thread whose stack grows into a hole (MAP_GROWSDOWN). */
static int
grow_a_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    size_t whole = (GAP + MAPPED) * PAGE, size = GAP * PAGE + whole;
    char *area = map(NULL, size, PROT_NONE, 0);
    fill_above(area);
    munmap(area, size);
    char *low = area + size - MAPPED * PAGE;
    if (map(low, MAPPED * PAGE, PROT_READ | PROT_WRITE,
            MAP_FIXED | MAP_GROWSDOWN) != low)
        return 1;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, area + GAP * PAGE, whole);
    if (pthread_create(&thread, &attributes, descend_thread, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    return 0;
}

static bool
grow(void)
{
    bool is_right = true;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(grow_a_stack());
        is_right = ends_well(pid) && is_right;
    }
    return is_right;
}

static const struct {
    const char *name;
    bool (*is_right)(void);
} ways[] = {{"compute", compute},
            {"fork", forks},
            {"exec", fails_to_execute},
            {"main", leaves},
            {"grow", grow}};

int
main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (count > 1 && strcmp(arguments[1], ways[i].name) == 0 &&
            ways[i].is_right())
            puts("ok");
    return 0;
}
