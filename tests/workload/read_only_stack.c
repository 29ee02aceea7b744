/* SPDX-License-Identifier: MIT */
/*
 * read_only_stack.c -- an alternate signal stack that is made read-only. A
 * handler that writes nothing runs there, and one of SIGSEGV runs in place:
 * where the kernel cannot write the frame of the first, it calls the second.
 * Whatever else comes to that stack ends the process.
 *
 * Argument: "thread" or "process", to which SIGHUP is sent again and again,
 * while another thread makes the stack read-only and writable; "call", the same
 * by syscall(2), the stack being that of a thread; "closed", the stack is made
 * inaccessible once, and the thread computes; or "open", it is writable again,
 * and a handler there forks, computes, and is left by a jump. Prints what was
 * not as it should be, and "ok".
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "work.h"

#define SIZE (40u << 10)
#define SIGNALS 20000
#define MASK_SIZE 8 /* as the kernel has it */

static char *stack;
static volatile bool is_over;
static bool by_number;

/* Written by handlers alone. */
__attribute__((used)) static volatile int hangups;
static volatile int faults;

void on_hangup(int);
MACHINE_COUNT(on_hangup, hangups);

static void
on_fault(int signo)
{
    (void)signo;
    faults++;
}

static void
protect(int access)
{
    long result = by_number ? syscall(SYS_mprotect, stack, SIZE, access)
                            : mprotect(stack, SIZE, access);
    if (result != 0)
        work_fail("mprotect");
}

static void *
toggle(void *unused)
{
    while (!is_over) {
        protect(PROT_READ);
        protect(PROT_READ | PROT_WRITE);
    }
    return unused;
}

static void
set_handler(int signo, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaddset(&action.sa_mask, SIGUSR1);
    if (sigaction(signo, &action, NULL) != 0)
        work_fail("sigaction");
}

/* The handler is as it was set. */
static void
check_handler(void)
{
    struct sigaction action;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigaction(SIGHUP, NULL, &action);
    if (action.sa_handler != on_hangup ||
        (action.sa_flags & (SA_ONSTACK | SA_SIGINFO)) != SA_ONSTACK)
        puts("the handler is another");
    if (memcmp(&action.sa_mask, &mask, MASK_SIZE) != 0)
        puts("the handler's mask is another");
}

/* The thread blocks WANTED. */
static void
check_mask(const sigset_t *wanted)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    if (memcmp(&now, wanted, MASK_SIZE) != 0)
        puts("the thread's mask is another");
}

static void
check_no_mask(void)
{
    sigset_t none;
    sigemptyset(&none);
    check_mask(&none);
}

static void
set_stack(void)
{
    stack_t alternate;
    memset(&alternate, 0, sizeof alternate);
    alternate.ss_sp = stack;
    alternate.ss_size = SIZE;
    long result = by_number ? syscall(SYS_sigaltstack, &alternate, NULL)
                            : sigaltstack(&alternate, NULL);
    if (result != 0)
        work_fail("sigaltstack");
}

/* The thread that toggles takes none of them. */
static void
begin_toggling(pthread_t *thread)
{
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hangup, NULL);
    if (pthread_create(thread, NULL, toggle, NULL) != 0)
        work_fail("pthread_create");
    sigprocmask(SIG_UNBLOCK, &hangup, NULL);
}

static void *
send_all(void *for_process)
{
    pthread_t toggler;
    long pid = getpid(), tid = gettid();
    set_stack();
    begin_toggling(&toggler);
    for (int i = 0; i < SIGNALS; i++)
        if (for_process != NULL)
            kill((pid_t)pid, SIGHUP);
        else
            syscall(SYS_tgkill, pid, tid, SIGHUP);
    is_over = true;
    pthread_join(toggler, NULL);
    if (hangups + faults != SIGNALS)
        printf("%d handled, %d faults, of %d\n", hangups, faults, SIGNALS);
    check_handler();
    check_no_mask();
    return NULL;
}

static void
compute(void)
{
    set_stack();
    protect(PROT_NONE);
    work_burn(500);
    if (hangups + faults != 0)
        printf("%d handled, %d faults, none sent\n", hangups, faults);
}

static jmp_buf back;
static volatile pid_t child;

static void
fork_and_leave(int signo)
{
    (void)signo;
    child = fork();
    if (child == 0)
        return;
    work_burn(100);
    longjmp(back, 1);
}

/* Neither the jump nor the child's return leaves a signal of the library
 * blocked. */
static void
use_again(void)
{
    sigset_t left;
    int status = 0;
    set_stack();
    protect(PROT_NONE);
    protect(PROT_READ | PROT_WRITE);
    set_handler(SIGUSR2, fork_and_leave, SA_ONSTACK);
    if (setjmp(back) == 0) {
        raise(SIGUSR2);
        check_no_mask();
        fflush(stdout);
        _exit(0);
    }
    /* As the kernel has it. */
    sigemptyset(&left);
    sigaddset(&left, SIGUSR1);
    sigaddset(&left, SIGUSR2);
    check_mask(&left);
    sigprocmask(SIG_UNBLOCK, &left, NULL);
    check_no_mask();
    work_burn(300);
    if (waitpid(child, &status, 0) != child || status != 0)
        puts("the child has failed");
}

int
main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "thread";
    pthread_t thread;
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        work_fail("mmap");
    by_number = strcmp(way, "call") == 0;
    set_handler(SIGHUP, on_hangup, SA_ONSTACK);
    set_handler(SIGSEGV, on_fault, 0);
    if (strcmp(way, "closed") == 0) {
        compute();
    } else if (strcmp(way, "open") == 0) {
        use_again();
    } else if (!by_number) {
        (void)send_all(strcmp(way, "process") == 0 ? stack : NULL);
    } else if (pthread_create(&thread, NULL, send_all, NULL) != 0 ||
               pthread_join(thread, NULL) != 0) {
        work_fail("pthread_create");
    }
    puts("ok");
    return 0;
}
