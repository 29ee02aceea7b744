/* SPDX-License-Identifier: MIT */
/*
 * jitdump.c -- generated code whose address is used again, with a jitdump that
 * says from when on. The function "first" runs for a quarter of the CPU time,
 * then "second" is made at its address, with the same code, and runs for the
 * rest. So only the time distinguishes the two. Both have two loops, which are
 * lines 10 and 20 of their files; the second one takes three times as long.
 *
 * Arguments: milliseconds of CPU time, 1000; and then any of
 *   cut      the jitdump ends within a record
 *   kill     the process kills itself at the end
 *   map      a perf map calls the code "of_map"; "second" is closed by a move,
 *            so that only the map names what runs there after that
 *   move     "second" is a move of code that was made elsewhere
 *   fork     a child runs "second"; the parent makes "third" there after the
 *            fork, in the file that the child has mapped, too
 *   late     the jitdump is mapped when all is over
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "generated.h"
#include "work.h"

enum { LOAD, MOVE, LINES, CLOSE };

static int argument_count;
static char **arguments;
static int dump = -1;
static unsigned char *page;

static bool
is_asked(const char *word)
{
    for (int i = 2; i < argument_count; i++)
        if (strcmp(arguments[i], word) == 0)
            return true;
    return false;
}

static uint64_t
now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
put(const void *bytes, size_t length)
{
    if (write(dump, bytes, length) != (ssize_t)length)
        work_fail("write");
}

static void
put_head(uint32_t kind, size_t size)
{
    const uint32_t words[2] = {kind, (uint32_t)(size + 16)};
    uint64_t time = now(CLOCK_MONOTONIC);
    put(words, sizeof words);
    put(&time, sizeof time);
}

/* The code at ADDRESS is NAME from now on. */
static void
put_load(const char *name, const unsigned char *address)
{
    const uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)gettid()};
    const uint64_t words[4] = {(uint64_t)address, (uint64_t)address,
                               sizeof code_loops, 1};
    char file[64];
    struct {
        uint64_t address;
        int32_t line, discriminator;
    } entries[2] = {{(uint64_t)address, 10, 0},
                    {(uint64_t)address + CODE_SECOND_LOOP, 20, 0}};
    const uint64_t lines[2] = {(uint64_t)address, 2};
    snprintf(file, sizeof file, "/app/%s.js", name);
    put_head(LINES, sizeof lines + sizeof entries + strlen(file) + 1 + 2);
    put(lines, sizeof lines);
    put(&entries[0], sizeof entries[0]);
    put(file, strlen(file) + 1);
    put(&entries[1], sizeof entries[1]);
    put("\xff", 2);
    put_head(LOAD,
             sizeof ids + sizeof words + strlen(name) + 1 + sizeof code_loops);
    put(ids, sizeof ids);
    put(words, sizeof words);
    put(name, strlen(name) + 1);
    put(code_loops, sizeof code_loops);
}

static void
put_move(const unsigned char *from, const unsigned char *to)
{
    const uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)gettid()};
    const uint64_t words[5] = {(uint64_t)to, (uint64_t)from, (uint64_t)to,
                               sizeof code_loops, 2};
    put_head(MOVE, sizeof ids + sizeof words);
    put(ids, sizeof ids);
    put(words, sizeof words);
}

static void
map_dump(void)
{
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) ==
        MAP_FAILED)
        work_fail("mmap");
}

static void
begin_dump(void)
{
    const uint32_t header[6] = {0x4a695444,   1, 40,
                                CODE_MACHINE, 0, (uint32_t)getpid()};
    const uint64_t words[2] = {now(CLOCK_MONOTONIC), 0};
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    dump = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (dump < 0)
        work_fail("open");
    put(header, sizeof header);
    put(words, sizeof words);
    if (!is_asked("late"))
        map_dump();
}

static void
write_map(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (map == NULL)
        work_fail("fopen");
    fprintf(map, "%lx %zx of_map\n", (unsigned long)page, sizeof code_loops);
    fclose(map);
}

FRAME static void
call_generated(void)
{
    ((void (*)(void))page)();
    KEEP_FRAME();
}

/* Run what is at the address for MS, and say for how long it was. */
FRAME static void
run(const char *name, unsigned ms)
{
    uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID), end;
    do {
        call_generated();
        end = now(CLOCK_THREAD_CPUTIME_ID);
    } while (end - begin < ms * 1000000ull);
    printf("truth: %s %lu\n", name, (unsigned long)(end - begin));
    fflush(stdout);
}

/* The child runs what lay there at the fork. */
static void
run_both(unsigned ms)
{
    pid_t child = fork();
    clockid_t clock;
    if (child == 0) {
        work_sleep(50);
        run("second", ms);
        exit(0);
    }
    /* The child's profile begins some time after the fork. */
    if (clock_getcpuclockid(child, &clock) != 0)
        work_fail("clock_getcpuclockid");
    while (now(clock) < ms * 500000ull)
        work_sleep(10);
    put_load("third", page);
    run("third", ms);
    waitpid(child, NULL, 0);
}

static void
make_second(void)
{
    if (is_asked("move")) {
        put_load("second", page + 512);
        put_move(page + 512, page);
    } else {
        put_load("second", page);
    }
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 1000);
    argument_count = argc;
    arguments = argv;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (page == MAP_FAILED)
        work_fail("mmap");
    code_copy(page, code_loops, sizeof code_loops);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        work_fail("mprotect");
    begin_dump();
    if (is_asked("map"))
        write_map();
    put_load("first", page);
    work_sleep(50); /* the sampler begins */
    run("first", ms / 4);
    make_second();
    if (is_asked("fork"))
        run_both(ms - ms / 4);
    else
        run("second", ms - ms / 4);
    if (is_asked("map")) {
        put_move(page, page + 512);
        run("of_map", ms / 4);
    }
    if (is_asked("late"))
        map_dump();
    if (is_asked("cut")) {
        put_head(LOAD, 4000);
        put("no whole record", 16);
    }
    puts("ok");
    fflush(stdout);
    if (is_asked("kill"))
        kill(getpid(), SIGKILL);
    return 0;
}
