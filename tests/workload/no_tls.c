/* SPDX-License-Identifier: MIT */
/*
 * no_tls.c -- threads without thread-local storage of libc's. With CALLS a
 * child of clone(2) whose thread pointer is 0 calls functions of libc that need
 * none, and ends in each way that needs none; it works without a profiler. With
 * COMPUTE the main thread has another thread pointer while it computes, as an
 * emulator does, and a thread that never had any computes, too.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "raw_call.h"
#include "work.h"

#define STACK (1u << 20)
#define MEMORY_ALONE (CLONE_VM | CLONE_SETTLS)
#define A_THREAD                                                        \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
     CLONE_SYSVSEM | CLONE_SETTLS)

static volatile uint32_t done, mistakes;
static uint64_t block[512]; /* the thread pointer leads into it meanwhile */

static void *
make_stack(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        work_fail("mmap");
    return stack + STACK;
}

static void
expect(int is_right)
{
    mistakes += !is_right;
}

/* None of these fails, so none sets errno; nor has any a stack protector, which
 * lies there, too. */
static void
call_libc(void)
{
    pid_t pid = getpid();
    expect(syscall(SYS_getpid) == pid);
    expect(syscall(SYS_kill, pid, 0) == 0);
    expect(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 8) == 0);
    expect(syscall(SYS_rt_sigaction, SIGPROF, NULL, NULL, 8) == 0);
    expect(kill(pid, 0) == 0);
    expect(killpg(getpgrp(), 0) == 0);
}

static int
end_by_syscall(void *unused)
{
    (void)unused;
    call_libc();
    syscall(SYS_exit, 41);
    return 0;
}

static int
end_by_exit(void *unused)
{
    (void)unused;
    call_libc();
    _exit(42);
}

static int
end_by_return(void *unused)
{
    (void)unused;
    return 43;
}

static int
end_by_exec(void *unused)
{
    static char *const arguments[] = {"sh", "-c", "exit 44", NULL};
    static char *const environment[] = {NULL};
    (void)unused;
    execve("/bin/sh", arguments, environment);
    raw_call(SYS_exit, 1, 0, 0, 0);
    return 1;
}

/* With and without its own signal handlers, and files. */
static void
try_ends(int flags)
{
    static int (*const ends[])(void *) = {end_by_syscall, end_by_exit,
                                          end_by_return, end_by_exec};
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        int status;
        pid_t child =
            clone(ends[i], make_stack(), MEMORY_ALONE | flags | SIGCHLD, NULL,
                  NULL, NULL, NULL);
        if (child < 0 || waitpid(child, &status, 0) != child)
            work_fail("clone");
        if (WIFSIGNALED(status))
            printf("killed by %d\n", WTERMSIG(status));
        else
            printf("status %d\n", WEXITSTATUS(status));
    }
}

/* In another thread of this very process. */
static int
call_in_thread(void *unused)
{
    (void)unused;
    call_libc();
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_exit, 0);
    return 0;
}

static void
start_thread(int (*run)(void *))
{
    if (clone(run, make_stack(), A_THREAD, NULL, NULL, NULL, NULL) < 0)
        work_fail("clone");
}

static void
wait_done(void)
{
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) == 0)
        usleep(1000);
}

/* The whole process, from a thread that has none. */
static int
end_process(void *unused)
{
    (void)unused;
    _exit(45);
}

FRAME static void
burn_inner(unsigned long rounds)
{
    unsigned long mix = rounds;
    for (unsigned long i = 0; i < rounds; i++) {
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(mix));
    }
    KEEP_FRAME();
}

FRAME static void
burn_outer(unsigned long rounds)
{
    burn_inner(rounds);
    KEEP_FRAME();
}

FRAME static int
burn_alone(void *unused)
{
    (void)unused;
    burn_outer(300000000);
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    raw_call(SYS_exit, 0, 0, 0, 0);
    return 0;
}

FRAME static void
burn_elsewhere(unsigned long rounds)
{
    uint64_t libc = machine_thread_pointer();
    machine_set_thread_pointer((uint64_t)&block[256]);
    burn_outer(rounds);
    machine_set_thread_pointer(libc);
}

static void
compute(void)
{
    static uint64_t before[512];
    for (unsigned i = 0; i < 512; i++)
        before[i] = block[i] = i * 0x9e3779b97f4a7c15ull;
    work_expect("main;(compute;)?burn_elsewhere;burn_outer;burn_inner");
    work_expect("burn_alone;burn_outer;burn_inner");
    burn_elsewhere(300000000);
    expect(memcmp(before, block, sizeof(block)) == 0);
    start_thread(burn_alone);
    wait_done();
}

int
main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "calls") == 0) {
        try_ends(0);
        try_ends(CLONE_FILES | CLONE_FS | CLONE_VFORK);
        start_thread(call_in_thread);
        wait_done();
    } else if (strcmp(way, "end") == 0) {
        start_thread(end_process);
        for (;;)
            pause();
    } else {
        compute();
    }
    printf("%u mistakes\n", mistakes);
    puts("ok");
    return 0;
}
