/* SPDX-License-Identifier: MIT */
/*
 * peek_test.c -- peeks at threads that block in every way, through functions
 * that are known: what is seen must be just these, up to the root. Where a
 * stack is made to mislead, it may be cut, but never wrong. And at threads that
 * run and die meanwhile, where it is only expected that we survive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "unwind/resume.h"
#include "unwind/peek.h"
#include "unwind/rules.h"
#include "process/modules.h"

#include "peek_calls.h"

#define FRAMES 1024
#define CASES_MAX 64
#define TURNS 201
/* Peeks at threads that run, and such threads, at the least. */
#define PEEKS 20000u
#define RUNS 1000u

struct peek_things things;

static struct frame frames[FRAMES];
static struct walk walk = {.frames = frames, .capacity = FRAMES};
static struct peek_thread threads[3][CASES_MAX];
static const struct peek_calls *const builds[] = {&peek_calls_o2,
                                                  &peek_calls_o0,
                                                  &peek_calls_o2_fp};

static void
ignore_module(const struct module *module, bool gone)
{
    (void)module;
    (void)gone;
}

static void
refresh(void)
{
    modules_refresh();
}

static void *
wait_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static int
make_lock(void)
{
    char path[] = "/tmp/peek_test.XXXXXX";
    int held = mkstemp(path), other = open(path, O_RDWR);

    unlink(path);
    return held >= 0 && flock(held, LOCK_EX) == 0 ? other : -1;
}

static int
make_listener(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    /* With the family alone, the kernel draws a name. */
    if (bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
        listen(fd, 1) != 0)
        return -1;
    return fd;
}

static int
make_things(void)
{
    things.child = fork();
    if (things.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        wait_for_ever(NULL);
    }
    things.epoll = epoll_create1(0);
    things.queue = msgget(IPC_PRIVATE, 0600);
    things.lock_fd = make_lock();
    things.listener = make_listener();
    pthread_mutex_init(&things.mutex, NULL);
    pthread_mutex_init(&things.held, NULL);
    pthread_mutex_lock(&things.held);
    pthread_cond_init(&things.condition, NULL);
    if (pipe(things.pipe) != 0 || sem_init(&things.semaphore, 0, 0) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, things.sockets) != 0)
        return -1;
    things.signal = SIGRTMIN;
    for (unsigned i = 0; i < 3; i++)
        if (pthread_create(&things.threads[i], NULL, wait_for_ever, NULL) != 0)
            return -1;
    return 0;
}

static int
start_thread(struct peek_thread *thread, const struct peek_calls *build,
             const struct peek_case *what)
{
    pthread_attr_t attributes;

    thread->what = what;
    pthread_attr_init(&attributes);
    if (what->stack != 0)
        pthread_attr_setstacksize(&attributes, what->stack);
    int result =
        pthread_create(&thread->thread, &attributes,
                       what->is_bare ? build->start_bare : build->start,
                       thread);
    pthread_attr_destroy(&attributes);
    return result;
}

/* Where thread TID is blocked. False if it is not. */
static bool
read_place(pid_t tid, uint64_t *pc, uint64_t *sp)
{
    char path[64], text[256] = "";
    long number;

    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    return length > 0 &&
           sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %lx %lx", &number, sp,
                  pc) == 3 &&
           number >= 0;
}

/* Whether THREAD is blocked where it was at the last call. */
static bool
is_blocked(struct peek_thread *thread, uint64_t *last_sp)
{
    uint64_t pc, sp = 0;
    bool result = atomic_load(&thread->tid) != 0 &&
                  read_place(atomic_load(&thread->tid), &pc, &sp) &&
                  sp == *last_sp;
    *last_sp = sp;
    return result;
}

/* Returns when all threads are blocked for good: none is left to wake one. */
static void
wait_until_blocked(void)
{
    static uint64_t places[3][CASES_MAX];
    unsigned same = 0;

    while (same < 3) {
        same++;
        for (unsigned b = 0; b < 3; b++)
            for (unsigned i = 0; builds[b]->cases[i].name != NULL; i++)
                if (!is_blocked(&threads[b][i], &places[b][i]))
                    same = 0;
        usleep(1000);
    }
}

static int
begin(void **state)
{
    (void)state;
    if (make_things() != 0 || modules_begin(ignore_module) != 0 ||
        rules_begin() != 0 || learn_begin() != 0 || peek_begin() != 0)
        return -1;
    refresh();
    for (unsigned b = 0; b < 3; b++)
        for (unsigned i = 0; builds[b]->cases[i].name != NULL; i++)
            if (start_thread(&threads[b][i], builds[b], &builds[b]->cases[i]) !=
                0)
                return -1;
    wait_until_blocked();
    return 0;
}

static int
end(void **state)
{
    (void)state;
    kill(things.child, SIGKILL);
    return msgctl(things.queue, IPC_RMID, NULL);
}

/* The function of FRAME, NULL if it is not in this file. */
static const void *
own_function(struct frame frame)
{
    struct fde fde;
    uint64_t pc = frame_lookup(frame);
    const struct module *module = modules_find(pc);

    if (module == NULL || strstr(module->path, "peek_") == NULL ||
        !learn_function(pc, &fde))
        return NULL;
    return (const void *)fde.start;
}

/* The function at PLACE of the stack of WHAT, from the leaf; NULL after it. */
static const void *
expected_function(const struct peek_case *what, size_t place)
{
    size_t more = what->repeats > 1 ? what->repeats - 1 : 0;

    if (place > 1)
        place = place > 1 + more ? place - more : 1;
    return place < PEEK_CHAIN ? what->chain[place] : NULL;
}

/* Hold the walk's frames against WHAT. The number of right frames of this file:
 * all if COMPLETE, else those that were found. */
static void
check_frames(const struct peek_case *what, bool complete)
{
    uint32_t gap, elided;
    uint32_t count = walk_finish(&walk, &gap, &elided);
    size_t place = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (i == gap)
            place += elided;
        const void *function = own_function(frames[i]);
        if (function == NULL)
            continue;
        if (function != expected_function(what, place))
            fail_msg("%s: frame %u is not function %zu of the chain",
                     what->name, i, place);
        place++;
    }
    if (complete && expected_function(what, place) != NULL)
        fail_msg("%s: function %zu of the chain is missing", what->name, place);
}

static int
compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Peeks are at copies of stacks. */
static bool copies;

static enum walk_outcome
peek_at(uint64_t pc, uint64_t sp)
{
    const struct regs at = {.pc = pc, .sp = sp, .fp = REGS_FP_UNKNOWN};
    struct peek_copy copy;

    if (copies)
        peek_copy(sp, &copy);
    return peek_stack(&at, NULL, copies ? &copy : NULL, 0, &walk);
}

/* As peek_at; once more where this thread lost its CPU on the way. */
static enum walk_outcome
peek_in_time(uint64_t pc, uint64_t sp)
{
    enum walk_outcome outcome = peek_at(pc, sp);

    for (unsigned i = 0;
         i < 20 && outcome == WALK_CUT && walk.cut == CUT_DEADLINE; i++)
        outcome = peek_at(pc, sp);
    return outcome;
}

/* The median of one peek. */
static uint64_t
time_peek(uint64_t pc, uint64_t sp)
{
    static uint64_t times[TURNS];

    for (unsigned i = 0; i < TURNS; i++) {
        uint64_t start = clock_now();
        peek_at(pc, sp);
        times[i] = clock_now() - start;
    }
    qsort(times, TURNS, sizeof(times[0]), compare_times);
    return times[TURNS / 2];
}

static void
check_build(unsigned b)
{
    uint64_t pc = 0, sp = 0;
    unsigned cut = 0;

    for (unsigned i = 0; builds[b]->cases[i].name != NULL; i++) {
        const struct peek_case *what = &builds[b]->cases[i];
        assert_true(read_place(atomic_load(&threads[b][i].tid), &pc, &sp));
        enum walk_outcome outcome = peek_in_time(pc, sp);
        /* A stub without a frame has a caller in each build, and all are alike.
         */
        bool is_stub = ARCH_HAS_LINK && walk.depth == 1;
        if (outcome == WALK_CUT && !what->may_be_cut && !is_stub)
            fail_msg("%s: cut at depth %u: %s", what->name, walk.depth,
                     cut_word(walk.cut));
        cut += outcome == WALK_CUT;
        if (outcome == WALK_CUT)
            print_message("%s: cut\n", what->name);
        check_frames(what, outcome == WALK_ROOT);
        if (i == 0 || strcmp(what->name, "poll") == 0 || what->repeats != 0 ||
            what->may_be_cut || strcmp(what->name, "plt_alloca") == 0)
            print_message("%s: %s: %lu ns, %u frames\n", builds[b]->name,
                          what->name, time_peek(pc, sp), walk.depth);
    }
    print_message("%s: %u cut\n", builds[b]->name, cut);
}

static void
stacks_are_right_in_copies(void **state)
{
    (void)state;
    copies = true;
    check_build(0);
    copies = false;
}

/* The thread goes on after its stack was copied. */
static void
a_copy_is_enough(void **state)
{
    struct peek_copy copy;
    uint64_t pc = 0, sp = 0, *slot, value;

    (void)state;
    assert_true(read_place(atomic_load(&threads[0][0].tid), &pc, &sp));
    const struct regs at = {.pc = pc, .sp = sp, .fp = REGS_FP_UNKNOWN};
    assert_int_equal(peek_in_time(pc, sp), WALK_ROOT);
    uint32_t depth = walk.depth;
    /* The return address of the frame in the middle, which is not the leaf's.
     */
    value = walk.frames[depth / 2].word & ~FRAME_RETURN_BIT;
    peek_copy(sp, &copy);
    for (slot = (uint64_t *)sp; *slot != value; slot++)
        assert_true((uint64_t)slot < sp + copy.length);
    *slot = 0;
    assert_int_not_equal(peek_at(pc, sp), WALK_ON);
    assert_int_not_equal(walk.depth, depth);
    *slot = value;
    peek_copy(sp, &copy);
    *slot = 0;
    enum walk_outcome outcome = peek_stack(&at, NULL, &copy, 0, &walk);
    *slot = value;
    assert_int_equal(outcome, WALK_ROOT);
    assert_int_equal(walk.depth, depth);
    assert_true(copy.was_enough);
}

/* Less than the stack is copied. */
static void
a_short_copy_is_not_enough(void **state)
{
    struct peek_copy copy;
    uint64_t pc = 0, sp = 0;

    (void)state;
    assert_true(read_place(atomic_load(&threads[0][0].tid), &pc, &sp));
    const struct regs at = {.pc = pc, .sp = sp, .fp = REGS_FP_UNKNOWN};
    peek_copy(sp, &copy);
    copy.length = 16;
    assert_int_equal(peek_stack(&at, NULL, &copy, 0, &walk), WALK_ROOT);
    assert_false(copy.was_enough);
    assert_int_equal(copy.length, 0);
}

static void
stacks_are_right_in_optimized_code(void **state)
{
    (void)state;
    check_build(0);
}

static void
stacks_are_right_in_code_that_is_not_optimized(void **state)
{
    (void)state;
    check_build(1);
}

static void
stacks_are_right_with_frame_pointers(void **state)
{
    (void)state;
    check_build(2);
}

/* The stack misleads: nothing is where it seems to be. */
static void
nonsense_is_survived(void **state)
{
    uint64_t seed = 1;
    uint64_t here = (uint64_t)&seed, code = (uint64_t)nonsense_is_survived;
    uint64_t places[] = {0, 1, 8, ~0ull, ~0ull - 7, 1ull << 47, here, code};

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            peek_at(places[i], places[j]);
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        peek_at(code + (seed >> 48) - 32768, here + (seed >> 20) % 8192);
    }
}

static struct peek_thread restless[2];
static _Atomic bool has_ended;
static _Atomic unsigned runs;

/* Goes on, in and out of system calls, at changing depths. */
static void *
run_on(void *argument)
{
    struct peek_thread *thread = argument;
    struct timespec moment = {0, 1000};

    atomic_fetch_add(&runs, 1);
    atomic_store(&thread->tid, (pid_t)syscall(SYS_gettid));
    for (unsigned i = 0; i < 50 && !atomic_load(&has_ended); i++) {
        nanosleep(&moment, NULL);
        snprintf((char[64]){0}, 64, "%d %s", (int)i, "some work");
        syscall(SYS_gettid);
    }
    return NULL;
}

/* Threads follow one another. */
static void *
start_on(void *argument)
{
    pthread_t thread;

    while (!atomic_load(&has_ended))
        if (pthread_create(&thread, NULL, run_on, argument) == 0)
            pthread_join(thread, NULL);
    return NULL;
}

static void
threads_that_run_are_survived(void **state)
{
    uint64_t pc = 0, sp = 0, longest = 0;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&restless[i].thread, NULL, start_on, &restless[i]);
    for (unsigned i = 0; i < PEEKS || atomic_load(&runs) < RUNS; i++) {
        /* The place of a moment ago, if it is in no call now. */
        read_place(atomic_load(&restless[i % 2].tid), &pc, &sp);
        /* CPU time: others may run meanwhile. */
        uint64_t start = clock_own();
        peek_at(pc, sp);
        uint64_t took = clock_own() - start;
        longest = took > longest ? took : longest;
    }
    atomic_store(&has_ended, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(restless[i].thread, NULL);
    print_message("the longest peek: %lu us\n", longest / 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_right_in_optimized_code),
        cmocka_unit_test(stacks_are_right_in_code_that_is_not_optimized),
        cmocka_unit_test(stacks_are_right_with_frame_pointers),
        cmocka_unit_test(stacks_are_right_in_copies),
        cmocka_unit_test(a_copy_is_enough),
        cmocka_unit_test(a_short_copy_is_not_enough),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(threads_that_run_are_survived),
    };

    alarm(110);
    int failed = cmocka_run_group_tests(tests, begin, end);
    fflush(stdout);
    /* Threads are blocked in stdio, and will be. */
    _exit(failed);
}
