/* SPDX-License-Identifier: MIT */
/*
 * truth.c -- workloads that print where their time went, as slices.h says.
 *
 * Usage: truth WORKLOAD SECONDS
 *        truth calls SECONDS BYTES, of a call
 *        truth waits SECONDS SCALE THREADS [LOG]: so much longer waits; 0
 *        threads: in the main thread; all slices are logged into the file LOG
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "slices.h"

static int64_t deadline; /* of the workload, CLOCK_MONOTONIC */
/* The instruction itself, so that the leaf is the function that asks. */
static inline __attribute__((always_inline)) long
system_call(long number, long a, long b, long c)
{
    return arch_syscall(number, a, b, c, 0, 0, 0);
}

static char block[1 << 16];
static int zero_fd, null_fd;

/* A file in memory without content, which is read piece by piece into one
 * buffer that is larger than caches; bytes of a call, which no signal ends
 * early. */
#define PIECE (64u << 20)
static int empty_fd;
static struct iovec pieces[32];
static long piece_count;
static size_t call_bytes = 64u << 20;
static unsigned long call_count;

static double wait_scale = 1;
/* Each thread has a file and a pace of its own, so that they are not in step.
 */
static __thread double wait_pace = 1;
static __thread int wait_file;
static unsigned wait_threads;

WORK(share_50, 3, )
WORK(share_30, 5, )
WORK(share_15, 7, )
WORK(share_5, 11, )
WORK(quota_1, 13, )
WORK(quota_2, 17, )
WORK(quota_3, 19, )
WORK(quota_4, 23, )
WORK(loop_a, 29, )
WORK(loop_b, 31, )
WORK(beside, 37, )
WORK(brief_a, 41, )
WORK(brief_b, 43, )
WORK(step_a, 47, )
WORK(step_b, 53, )
WORK(worker_a, 59, )
WORK(worker_b, 61, )
WORK(early, 89, )
WORK(late, 97, )
WORK(before, 101, )
WORK(parent_first, 103, )
WORK(parent_last, 107, )
WORK(child_first, 109, )
WORK(child_last, 113, )
WORK(under_lock, 67, )
WORK(out_of_lock, 71, )
WORK(calls_copy, 73, system_call(SYS_read, zero_fd, (long)block, sizeof block);
     system_call(SYS_write, null_fd, (long)block, sizeof block))
WORK(calls_getpid, 79, system_call(SYS_getpid, 0, 0, 0))
WORK(calls_seek, 83, system_call(SYS_lseek, zero_fd, 0, SEEK_CUR))
WORK(call_user, 127, )
WORK(call_read, 131,
     system_call(SYS_preadv, empty_fd, (long)pieces, piece_count);
     call_count++)
WORK(shallow_half, 137, )
WORK(deep_half, 139, )

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static __thread int epoll_fd, timer_fd;
static __thread int64_t next_burst;

static __attribute__((noinline)) void
wait_event(int64_t ns)
{
    struct itimerspec when = {{0, 0}, {0, ns}};
    struct epoll_event event;
    uint64_t expired;

    timerfd_settime(timer_fd, 0, &when, NULL);
    while (epoll_wait(epoll_fd, &event, 1, -1) != 1)
        continue;
    if (read(timer_fd, &expired, sizeof expired) < 0)
        abort();
}

PART("wait", wait_event)

static __attribute__((noinline)) void
wait_burst(int64_t period)
{
    struct timespec at;

    next_burst += period;
    if (next_burst < clock_now(CLOCK_MONOTONIC))
        next_burst = clock_now(CLOCK_MONOTONIC) / period * period + period;
    at.tv_sec = next_burst / 1000000000;
    at.tv_nsec = next_burst % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

PART("wait", wait_burst)

static __attribute__((noinline)) void
wait_lock(int64_t unused)
{
    (void)unused;
    pthread_mutex_lock(&contended);
}

PART("wait", wait_lock)

static __attribute__((noinline)) void
wait_poll(int64_t ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};

    ppoll(NULL, 0, &time, NULL);
}

PART("wait", wait_poll)

static __attribute__((noinline)) void
wait_cond(int64_t ns)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    int64_t end = clock_now(CLOCK_REALTIME) + ns;
    struct timespec at = {end / 1000000000, end % 1000000000};

    pthread_mutex_lock(&own);
    pthread_cond_timedwait(&never, &own, &at);
    pthread_mutex_unlock(&own);
}

PART("wait", wait_cond)

static __attribute__((noinline)) void
wait_sleep(int64_t ns)
{
    usleep((useconds_t)(ns / US));
}

PART("wait", wait_sleep)

static __attribute__((noinline)) void
wait_fsync(int64_t unused)
{
    (void)unused;
    if (pwrite(wait_file, block, 4096, 0) != 4096 || fsync(wait_file) != 0)
        abort();
}

PART("wait", wait_fsync)

static int
in_time(void)
{
    return clock_now(CLOCK_MONOTONIC) < deadline;
}

static void
stay_on(int from, int count)
{
    cpu_set_t allowed, set;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && --from < 0 && count-- > 0)
            CPU_SET(cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}

/* Run BODY in COUNT threads, numbered from 0, and wait for them. */
static void
in_threads(void *(*body)(void *), unsigned count)
{
    pthread_t threads[256];

    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i) != 0)
            abort();
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Random order, random lengths; the chance of a function is its share. */
static void
functions(void)
{
    while (in_time()) {
        uint64_t chance = pick(100);
        int64_t ns = (int64_t)pick(1000 * US);

        slice(chance < 50   ? &share_50_part
              : chance < 80 ? &share_30_part
              : chance < 95 ? &share_15_part
                            : &share_5_part,
              ns);
    }
}

static void *
quota(void *number)
{
    static struct part *const run[] = {&quota_1_part, &quota_2_part,
                                       &quota_3_part, &quota_4_part};
    unsigned mine = (unsigned)(uintptr_t)number;
    int64_t all, end;

    thread_begin(mine);
    /* Ten tenths of what the CPUs give in the time that was asked for. */
    all = 2 * (deadline - clock_now(CLOCK_MONOTONIC));
    end = all * (mine + 1) / 10;
    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
        slice(run[mine], (int64_t)pick(1000 * US));
    thread_end();
    return NULL;
}

static void
quotas(void)
{
    in_threads(quota, 4);
}

/* Work of 100 us and 900 us of waiting. */
static void
event_loop(void)
{
    struct epoll_event event = {.events = EPOLLIN};

    epoll_fd = epoll_create1(0);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event) != 0)
        abort();
    while (in_time()) {
        slice(&loop_a_part, 70 * US);
        slice(&loop_b_part, 30 * US);
        slice(&wait_event_part, 900 * US);
    }
}

static void *
crowd(void *number)
{
    int mine = (int)(uintptr_t)number;

    thread_begin((uint64_t)mine);
    stay_on(mine ? mine - 1 : 0, 1);
    if (mine == 0)
        event_loop();
    while (mine != 0 && in_time())
        slice(&beside_part, 5 * MS);
    thread_end();
    return NULL;
}

/* The loop on the first CPU, and a thread that never waits on every CPU. */
static void
crowded_loop(void)
{
    cpu_set_t allowed;

    sched_getaffinity(0, sizeof allowed, &allowed);
    in_threads(crowd, 1 + (unsigned)CPU_COUNT(&allowed) % 60);
}

/* 3 ms: 70 % in one function, 30 % in the other, the order in turn. */
static void *
short_life(void *number)
{
    uintptr_t mine = (uintptr_t)number;

    thread_begin(mine);
    if (mine % 2)
        slice_until(&brief_b_part, 900 * US);
    slice_until(&brief_a_part, (mine % 2 ? 3000 : 2100) * US);
    if (mine % 2 == 0)
        slice_until(&brief_b_part, 3000 * US);
    thread_end();
    return NULL;
}

static void
short_lives(void)
{
    for (int i = 0; i < 100; i++)
        in_threads(short_life, 4);
}

/* As many as compute at once and return. */
static void
crowd_of_lives(void)
{
    in_threads(short_life, 256);
}

/* 25 us in one function; seven of ten threads in the one. */
static void *
tiny_life(void *number)
{
    uintptr_t mine = (uintptr_t)number;

    thread_begin(mine);
    slice(mine % 10 < 7 ? &brief_a_part : &brief_b_part, 25 * US);
    thread_end();
    return NULL;
}

static void
tiny_lives(void)
{
    for (int i = 0; i < 800; i++)
        in_threads(tiny_life, 10);
}

static void
burst(void)
{
    while (in_time()) {
        slice(&wait_burst_part, 1 * MS);
        slice(&step_a_part, 400 * US);
        slice(&step_b_part, 100 * US);
    }
}

/* A period of exactly 1 ms by the clock that triggers samples. */
static void
pure(void)
{
    int64_t target = clock_now(CLOCK_THREAD_CPUTIME_ID);

    while (in_time()) {
        target += 700 * US;
        slice_until(&step_a_part, target);
        target += 300 * US;
        slice_until(&step_b_part, target);
    }
}

/* The thread uses NS of CPU time in PART. */
static void
use(struct part *part, int64_t ns)
{
    int64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
        slice(part, (int64_t)pick(1000 * US));
}

/* One function for the first 30 % of its CPU time, and another one after it: a
 * profiler whose rate changes meanwhile must weigh its samples. */
static void
phases(void)
{
    int64_t all = deadline - clock_now(CLOCK_MONOTONIC);

    use(&early_part, all * 3 / 10);
    use(&late_part, all * 7 / 10);
}

static int is_child;
static int64_t turn; /* ns of CPU time of each part of a fork's workload */

static void
use_both(void)
{
    use(is_child ? &child_first_part : &parent_first_part, turn);
    use(is_child ? &child_last_part : &parent_last_part, turn);
}

static void *
forked_thread(void *number)
{
    thread_begin((uintptr_t)number);
    use_both();
    thread_end();
    return NULL;
}

/* A fork after the first third of the parent's CPU time; then RUN in both. */
static void
forks(void (*run)(void))
{
    pid_t child;
    int status = 0;

    turn = (deadline - clock_now(CLOCK_MONOTONIC)) / 3;
    use(&before_part, turn);
    child = fork();
    is_child = child == 0;
    if (child < 0)
        abort();
    if (is_child) {
        forget_truth();
        thread_begin((uint64_t)getpid());
    }
    run();
    /* The child's lines come first. */
    if (!is_child && (waitpid(child, &status, 0) != child || status != 0))
        abort();
}

static void
use_in_thread(void)
{
    in_threads(forked_thread, 1);
}

static void
fork_alone(void)
{
    forks(use_both);
}

static void
fork_with_threads(void)
{
    forks(use_in_thread);
}

static void *
worker(void *number)
{
    thread_begin((uintptr_t)number);
    stay_on(0, 2);
    while (in_time())
        slice(pick(100) < 60 ? &worker_a_part : &worker_b_part,
              (int64_t)pick(1000 * US));
    thread_end();
    return NULL;
}

static void
workers(void)
{
    in_threads(worker, 4);
}

static void *
contender(void *number)
{
    thread_begin((uintptr_t)number);
    while (in_time()) {
        slice(&wait_lock_part, 0);
        slice(&under_lock_part, 200 * US);
        pthread_mutex_unlock(&contended);
        slice(&out_of_lock_part, 50 * US);
    }
    thread_end();
    return NULL;
}

static void
contenders(void)
{
    in_threads(contender, 4);
}

static void
system_calls(void)
{
    zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    while (in_time()) {
        uint64_t chance = pick(100);

        slice(chance < 50   ? &calls_copy_part
              : chance < 80 ? &calls_getpid_part
                            : &calls_seek_part,
              (int64_t)pick(1000 * US));
    }
}

/* 50 ms of computing, and as much in long calls, in turns. */
static void
long_calls(void)
{
    static char buffer[PIECE];
    size_t left = call_bytes;

    empty_fd = memfd_create("empty", MFD_CLOEXEC);
    if (empty_fd < 0 || ftruncate(empty_fd, 0x7fffffff) != 0)
        abort();
    for (; left > 0 && piece_count < 32; piece_count++) {
        size_t size = left < PIECE ? left : PIECE;

        pieces[piece_count] = (struct iovec){buffer, size};
        left -= size;
    }
    while (in_time()) {
        slice(&call_user_part, 50 * MS);
        slice(&call_read_part, 50 * MS);
    }
}

static __attribute__((noinline)) void
descend(unsigned depth)
{
    if (depth > 0)
        descend(depth - 1);
    else
        slice(&deep_half_part, 50 * MS);
    __asm__ volatile("");
}

/* A half of the time 20,000 frames deep. */
static void
deep(void)
{
    while (in_time()) {
        slice(&shallow_half_part, 50 * MS);
        descend(20000);
    }
}

/* Waits of several kinds, and little work. */
static void
wait_in_turns(void)
{
    char path[] = "truth.XXXXXX";
    double ms = MS * wait_scale * wait_pace;

    wait_file = mkstemp(path);
    if (wait_file < 0 || unlink(path) != 0)
        abort();
    while (in_time()) {
        slice(&wait_poll_part, (int64_t)(7 * ms));
        slice(&wait_cond_part, (int64_t)(3 * ms));
        slice(&wait_sleep_part, (int64_t)(0.5 * ms));
        slice(&wait_fsync_part, 0);
        slice(&step_a_part, 70 * US);
        slice(&step_b_part, 30 * US);
    }
}

static void *
waiter(void *number)
{
    thread_begin((uintptr_t)number);
    wait_pace = 0.8 + 0.4 * (double)(uintptr_t)number / wait_threads;
    wait_in_turns();
    thread_end();
    return NULL;
}

static void
waits(void)
{
    if (wait_threads > 0)
        in_threads(waiter, wait_threads);
    else
        wait_in_turns();
}

/* Ends as a Go program does: no function of the C library is called. */
static void
end_raw(void)
{
    functions();
    thread_end();
    print_truth();
    fflush(stdout);
    system_call(SYS_exit_group, 0, 0, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} workloads[] = {
    {"functions", functions},
    {"threads", quotas},
    {"loop", event_loop},
    {"crowded", crowded_loop},
    {"short", short_lives},
    {"tiny", tiny_lives},
    {"burst", burst},
    {"pure", pure},
    {"workers", workers},
    {"mutex", contenders},
    {"syscalls", system_calls},
    {"phases", phases},
    {"fork", fork_alone},
    {"fork_threads", fork_with_threads},
    {"crowd", crowd_of_lives},
    {"calls", long_calls},
    {"deep", deep},
    {"waits", waits},
    {"end_raw", end_raw},
};

int
main(int argc, char **argv)
{
    double seconds = argc > 2 ? atof(argv[2]) : 1;

    if (argc > 3) {
        call_bytes = strtoul(argv[3], NULL, 10);
        wait_scale = atof(argv[3]);
    }
    if (argc > 4)
        wait_threads = (unsigned)atoi(argv[4]);
    if (argc > 5)
        log_slices();
    thread_begin((uint64_t)getpid());
    calibrate();
    deadline = clock_now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
    for (size_t i = 0; argc > 1 && i < sizeof workloads / sizeof *workloads;
         i++)
        if (strcmp(argv[1], workloads[i].name) == 0) {
            workloads[i].run();
            thread_end();
            print_truth();
            if (call_count > 0)
                printf("calls %lu\n", call_count);
            if (argc > 5)
                write_log(argv[5]);
            return 0;
        }
    fprintf(stderr, "usage: truth WORKLOAD SECONDS\n");
    return 2;
}
