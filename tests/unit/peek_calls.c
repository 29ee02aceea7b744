/* SPDX-License-Identifier: MIT */
/*
 * peek_calls.c -- blocks a thread in every way, through functions that the test
 * knows. Compiled with and without optimization and frame pointers.
 */
#include <alloca.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "peek_calls.h"

#define FOREVER 1000000

static volatile long sink;

/* A function that blocks in STATEMENT. */
#define BLOCKS(name, ...)             \
    FRAME static void in_##name(void) \
    {                                 \
        __VA_ARGS__;                  \
        KEEP_FRAME();                 \
    }

static struct timespec
later(void)
{
    return (struct timespec){time(NULL) + FOREVER, 0};
}

BLOCKS(nanosleep, struct timespec t = {FOREVER, 0}; sink = nanosleep(&t, NULL))
BLOCKS(usleep, sink = usleep(4000000000u))
BLOCKS(sleep, sink = sleep(FOREVER))
BLOCKS(pause, sink = pause())
BLOCKS(epoll, struct epoll_event e; sink = epoll_wait(things.epoll, &e, 1, -1))
BLOCKS(poll, struct pollfd p = {things.pipe[0], POLLIN, 0};
       sink = poll(&p, 1, -1))
BLOCKS(select, fd_set set; FD_ZERO(&set); FD_SET(things.pipe[0], &set);
       sink = select(things.pipe[0] + 1, &set, NULL, NULL, NULL))
BLOCKS(sem_wait, sink = sem_wait(&things.semaphore))
BLOCKS(sem_timedwait, struct timespec t = later();
       sink = sem_timedwait(&things.semaphore, &t))
BLOCKS(cond_wait, pthread_mutex_lock(&things.mutex);
       sink = pthread_cond_wait(&things.condition, &things.mutex))
BLOCKS(cond_timedwait, struct timespec t = later();
       pthread_mutex_lock(&things.mutex);
       sink = pthread_cond_timedwait(&things.condition, &things.mutex, &t))
BLOCKS(read, char c; sink = read(things.pipe[0], &c, 1))
BLOCKS(recv, char c; sink = recv(things.sockets[0], &c, 1, 0))
BLOCKS(accept, sink = accept(things.listener, NULL, NULL))
BLOCKS(sigwait, sigset_t set; int number; sigemptyset(&set);
       sigaddset(&set, SIGUSR2); sink = sigwait(&set, &number))
BLOCKS(mutex_lock, sink = pthread_mutex_lock(&things.held))
BLOCKS(fgetc, FILE *file = fdopen(dup(things.pipe[0]), "r"); sink = fgetc(file))
BLOCKS(flock, sink = flock(things.lock_fd, LOCK_EX))
BLOCKS(waitpid, sink = waitpid(things.child, NULL, 0))
/* Seven arguments: one is pushed. */
BLOCKS(pushed_argument, int word = 0;
       sink = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, sink))
BLOCKS(pointed_variable, char *room = alloca((size_t)sink % 2 + 200);
       sink = read(things.pipe[0], room, 1))

/* A frame of any size, but after a direct call. */
FRAME static void
variable(size_t size)
{
    char *room = alloca(size);

    sink = read(things.pipe[0], room, 1);
    KEEP_FRAME();
}

BLOCKS(variable, variable(200))
BLOCKS(
    msgrcv,
    struct {
        long type;
        char text[8];
    } m;
    sink = msgrcv(things.queue, &m, sizeof m.text, 0, 0))
BLOCKS(join, sink = pthread_join(things.threads[things.joined++], NULL))
BLOCKS(plt, library_wait(things.pipe[0]))
BLOCKS(plt_alloca, library_wait_alloca(things.pipe[0], 300))

/* Here the function's own frame is the first that needs rbp. */
#define WAIT_IF(waits)      \
    do {                    \
        if (waits)          \
            sink = pause(); \
    } while (0)

/* Blocks or returns, with a frame that is not just a return address. */
FRAME static void
wait_or_not(bool waits)
{
    volatile char room[100];

    room[1] = 1;
    if (waits)
        pause();
    sink += room[1];
    KEEP_FRAME();
}

/* The arguments do not fit into registers. */
FRAME static long
many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
               long i)
{
    wait_or_not(g == 7);
    KEEP_FRAME();
    return a + b + c + d + e + f + g + h + i;
}

FRAME static void
in_pushes(void)
{
    sink += many_arguments(1, 2, 3, 4, 5, 6, 8, sink, sink);
    sink += many_arguments(1, 2, 3, 4, 5, 6, 7, sink, sink);
    KEEP_FRAME();
}

/* Calls itself; the array is where frames of earlier calls were. */
FRAME static void
recurse(unsigned levels, bool waits)
{
    char room[3000];

    __asm__ volatile("" : : "r"(room) : "memory");
    if (levels > 1)
        recurse(levels - 1, waits);
    else
        WAIT_IF(waits);
    KEEP_FRAME();
}

FRAME static void
in_recursion(void)
{
    recurse(9, false);
    recurse(3, true);
    KEEP_FRAME();
}

/* The same with a frame whose size is not in the code. */
FRAME static void
recurse_alloca(unsigned levels, bool waits)
{
    char *room = alloca(levels == 2 || waits ? 2000 : 16);

    __asm__ volatile("" : : "r"(room) : "memory");
    if (levels > 1)
        recurse_alloca(levels - 1, waits);
    else
        WAIT_IF(waits);
    KEEP_FRAME();
}

FRAME static void
in_alloca(void)
{
    recurse_alloca(9, false);
    recurse_alloca(1, true);
    KEEP_FRAME();
}

/* Fills its frame with what looks like frames: FAKE as return address. */
FRAME static void
filled(uint64_t fake, unsigned size)
{
    uint64_t *room = alloca(size);

    for (unsigned i = 0; i + 1 < size / 8; i += 2) {
        room[i] = i + 4 < size / 8 ? (uint64_t)&room[i + 2]
                                   : (uint64_t)__builtin_frame_address(0);
        room[i + 1] = fake;
    }
    __asm__ volatile("" : : "r"(room) : "memory");
    WAIT_IF(fake != 0);
    KEEP_FRAME();
}

FRAME static void
filled_fixed(uint64_t fake)
{
    uint64_t room[128];

    for (unsigned i = 0; i < 128; i += 2) {
        room[i] = (uint64_t)(i < 120 ? (void *)&room[i + 2]
                                     : __builtin_frame_address(0));
        room[i + 1] = fake;
    }
    __asm__ volatile("" : : "r"(room) : "memory");
    WAIT_IF(fake != 0);
    KEEP_FRAME();
}

static uint64_t seen_return;

FRAME static void
note_return(bool never)
{
    seen_return = (uint64_t)__builtin_return_address(0);
    if (never)
        filled(seen_return, 64);
    KEEP_FRAME();
}

/* A return address that is one, but not of this stack. */
FRAME static uint64_t
elsewhere(void)
{
    note_return(false);
    KEEP_FRAME();
    return seen_return;
}

/* One in front of which this very function is called. */
FRAME static uint64_t
behind_filled(void)
{
    const uint8_t *code = (const uint8_t *)note_return;

    for (unsigned i = 0; i < 100; i++) {
        int32_t offset;

        memcpy(&offset, code + i + 1, sizeof offset);
        if (code[i] == 0xe8 && code + i + 5 + offset == (uint8_t *)filled)
            return (uint64_t)(code + i + 5);
    }
    return 0;
}

BLOCKS(fakes, filled(elsewhere(), 512))
BLOCKS(strong_fakes, filled(behind_filled(), 512))
BLOCKS(fixed_fakes, filled_fixed(elsewhere()))

FRAME static void
on_signal(int number)
{
    sink = number;
    WAIT_IF(number != 0);
    KEEP_FRAME();
}

/* Install on_signal with FLAGS. Returns for which signal. */
static int
install(int flags)
{
    struct sigaction action;
    int number = things.signal++;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
    return number;
}

FRAME static void
in_handler(void)
{
    raise(install(0));
    KEEP_FRAME();
}

FRAME static void
in_alternate(void)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};

    sigaltstack(&stack, NULL);
    raise(install(SA_ONSTACK));
    KEEP_FRAME();
}

FRAME static void
coroutine(void)
{
    WAIT_IF(sink != -7);
    KEEP_FRAME();
}

FRAME static void
in_context(void)
{
    static ucontext_t here, there;

    getcontext(&there);
    there.uc_stack.ss_sp = calloc(1, 65536);
    there.uc_stack.ss_size = 65536;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    KEEP_FRAME();
}

FRAME static void
deep(unsigned levels)
{
    if (levels > 1)
        deep(levels - 1);
    else
        wait_or_not(true);
    KEEP_FRAME();
}

BLOCKS(deep, deep(20000))

FRAME static void
middle(const struct peek_case *what)
{
    volatile char room[64];

    room[0] = 0;
    what->run();
    sink += room[0];
    KEEP_FRAME();
}

FRAME static void *
start(void *argument)
{
    struct peek_thread *thread = argument;

    atomic_store(&thread->tid, (pid_t)syscall(SYS_gettid));
    middle(thread->what);
    KEEP_FRAME();
    return NULL;
}

FRAME static void *
start_bare(void *argument)
{
    struct peek_thread *thread = argument;

    atomic_store(&thread->tid, (pid_t)syscall(SYS_gettid));
    pause();
    KEEP_FRAME();
    return NULL;
}

#define PLAIN(call)                                                            \
    {                                                                          \
        .name = #call, .run = in_##call, .chain = { in_##call, middle, start } \
    }
#define THROUGH(call, leaf)                         \
    {                                               \
        .name = #call, .run = in_##call, .chain = { \
            leaf,                                   \
            in_##call,                              \
            middle,                                 \
            start                                   \
        }                                           \
    }

static const struct peek_case cases[] = {
    PLAIN(nanosleep),
    PLAIN(usleep),
    PLAIN(sleep),
    PLAIN(pause),
    PLAIN(epoll),
    PLAIN(poll),
    PLAIN(select),
    PLAIN(sem_wait),
    PLAIN(sem_timedwait),
    PLAIN(cond_wait),
    PLAIN(cond_timedwait),
    PLAIN(read),
    PLAIN(recv),
    PLAIN(accept),
    PLAIN(sigwait),
    PLAIN(mutex_lock),
    PLAIN(fgetc),
    PLAIN(flock),
    PLAIN(waitpid),
    PLAIN(msgrcv),
    PLAIN(join),
    PLAIN(pushed_argument),
    THROUGH(variable, variable),
    {.name = "pointed variable",
     .run = in_pointed_variable,
     .chain = {in_pointed_variable, middle, start},
     .may_be_cut = true},
    {.name = "small stack",
     .run = in_poll,
     .chain = {in_poll, middle, start},
     .stack = 16384},
    {.name = "bare", .run = NULL, .chain = {start_bare}, .is_bare = true},
    THROUGH(plt, library_wait),
    THROUGH(plt_alloca, library_wait_alloca),
    {.name = "pushes",
     .run = in_pushes,
     .chain = {wait_or_not, many_arguments, in_pushes, middle, start}},
    {.name = "recursion",
     .run = in_recursion,
     .chain = {recurse, recurse, recurse, in_recursion, middle, start}},
    {.name = "alloca",
     .run = in_alloca,
     .chain = {recurse_alloca, in_alloca, middle, start},
     .may_be_cut = true},
    {.name = "fakes",
     .run = in_fakes,
     .chain = {filled, in_fakes, middle, start},
     .may_be_cut = true},
    {.name = "strong fakes",
     .run = in_strong_fakes,
     .chain = {filled, in_strong_fakes, middle, start},
     .may_be_cut = true},
    {.name = "fixed fakes",
     .run = in_fixed_fakes,
     .chain = {filled_fixed, in_fixed_fakes, middle, start}},
    {.name = "handler",
     .run = in_handler,
     .chain = {on_signal, in_handler, middle, start}},
    {.name = "alternate stack",
     .run = in_alternate,
     .chain = {on_signal, in_alternate, middle, start}},
    {.name = "context", .run = in_context, .chain = {coroutine}},
    {.name = "deep",
     .run = in_deep,
     .chain = {wait_or_not, deep, in_deep, middle, start},
     .repeats = 20000},
    {.name = NULL},
};

#define TEXT(name) NAME(name)
#define NAME(name) #name
const struct peek_calls VARIANT = {TEXT(VARIANT), cases, start, start_bare};
