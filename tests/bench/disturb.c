/* SPDX-License-Identifier: MIT */
/*
 * disturb.c -- counts what a profiler does to waits. One thread for each way to
 * wait (the calls that signal(7) says are never restarted, and some that are)
 * and each length: 1 ms, 100 ms, and without end, when another thread wakes it
 * every 700 ms. Between waits a thread computes for a random short time. So
 * timers of CPU time also expire on the way into a wait.
 *
 * Usage: disturb SECONDS [everyone]; disturb loop SECONDS [everyone]
 *
 * It prints: CALL LENGTH WAITS EINTR EARLY. EINTR counts returns with that
 * error and without the event; EARLY those without the event, without an error
 * and before the time, by the clock by which the call waits. With "everyone" a
 * thread sends SIGPROF, for which there is an SA_RESTART handler that does
 * nothing, to all others 1,000 times a second, as simple profilers do. "loop"
 * is one thread that computes 100 us and waits in epoll_wait for 900 us.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "slices.h"
#include "waits.h"

#define WAITERS_MOST 128
#define WAKE_EVERY_MS 700

static struct waiter waiters[WAITERS_MOST];
static int waiter_count;
static int64_t tick; /* of the clock that counts jiffies */
static volatile int stop;

WORK(between_waits, 89, )

static void
nothing(int signal)
{
    (void)signal;
}

static const char *
length_name(int64_t ns)
{
    return ns == FOREVER ? "endless" : ns < 100 * MS ? "short" : "long";
}

/* Whether a wait from BEFORE to now ended before its time. */
static int
was_early(struct waiter *w, int64_t before)
{
    int64_t passed = clock_now(w->call->clock) - before;

    return w->ns == FOREVER || passed < w->ns - (w->call->coarse ? tick : 0);
}

static void *
keep_waiting(void *argument)
{
    struct waiter *w = argument;
    long seen = 0;

    thread_begin((uint64_t)(w - waiters));
    waiter_open(w);
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    while (!stop) {
        int64_t before;
        int result, error;
        long woken;

        slice(&between_waits_part,
              (int64_t)pick(w->ns == MS ? 30 * US : 200 * US));
        before = clock_now(w->call->clock);
        errno = 0;
        result = w->call->wait(w, w->ns);
        error = result < 0 ? errno : 0;
        woken = __atomic_load_n(&w->woken, __ATOMIC_SEQ_CST);
        if (stop)
            break;
        w->waits++;
        if (woken != seen)
            waiter_consume(w);
        else if (error == EINTR)
            w->interrupted++;
        else if (was_early(w, before))
            w->early++;
        seen = woken;
    }
    return NULL;
}

/* 100 us of work, then the wait for a timer of 900 us. */
static void *
event_loop(void *argument)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct itimerspec when = {{0, 0}, {0, 900 * US}};
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct waiter *w = argument;
    uint64_t expired;

    thread_begin(0);
    w->epoll = epoll_create1(0);
    epoll_ctl(w->epoll, EPOLL_CTL_ADD, timer, &event);
    w->ready = 1;
    while (!stop) {
        slice(&between_waits_part, 100 * US);
        timerfd_settime(timer, 0, &when, NULL);
        w->waits++;
        while (epoll_wait(w->epoll, &event, 1, -1) != 1)
            w->interrupted++;
        if (read(timer, &expired, sizeof expired) < 0)
            abort();
    }
    return NULL;
}

static void
start(const struct call *call, int64_t ns, void *(*body)(void *))
{
    struct waiter *w = &waiters[waiter_count++];

    w->call = call;
    w->ns = ns;
    if (waiter_count > WAITERS_MOST ||
        pthread_create(&w->thread, NULL, body, w) != 0)
        abort();
    while (!__atomic_load_n(&w->ready, __ATOMIC_ACQUIRE))
        usleep(100);
}

static void
start_all(void)
{
    for (int i = 0; i < call_count; i++) {
        if (calls[i].lengths & SHORT)
            start(&calls[i], MS, keep_waiting);
        if (calls[i].lengths & LONG)
            start(&calls[i], 100 * MS, keep_waiting);
        if (calls[i].lengths & ENDLESS)
            start(&calls[i], FOREVER, keep_waiting);
    }
}

static void
wake_endless(void)
{
    for (int i = 0; i < waiter_count; i++)
        if (waiters[i].ns == FOREVER)
            waiter_wake(&waiters[i]);
}

/* Every millisecond, a signal to every thread. */
static void *
signal_everyone(void *unused)
{
    while (!stop) {
        usleep(1000 - 60);
        for (int i = 0; i < waiter_count; i++)
            pthread_kill(waiters[i].thread, SIGPROF);
    }
    return unused;
}

static void
wait_for_end(int64_t end)
{
    int64_t wake = clock_now(CLOCK_MONOTONIC);

    while (clock_now(CLOCK_MONOTONIC) < end) {
        struct timespec pause = {0, 20 * MS};

        nanosleep(&pause, NULL);
        if (clock_now(CLOCK_MONOTONIC) < wake + WAKE_EVERY_MS * MS)
            continue;
        wake_endless();
        wake = clock_now(CLOCK_MONOTONIC);
    }
    stop = 1;
}

/* A signal, or a condition, may come between two waits: again then. */
static void
join(struct waiter *w)
{
    while (pthread_tryjoin_np(w->thread, NULL) != 0) {
        if (w->ns == FOREVER)
            waiter_wake(w);
        usleep(20000);
    }
    waiter_close(w);
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    int loop = argc > 1 && strcmp(argv[1], "loop") == 0;
    int everyone = argc > 1 && strcmp(argv[argc - 1], "everyone") == 0;
    double seconds = argc > 1 + loop ? atof(argv[1 + loop]) : 1;
    static const struct call in_loop = {.name = "epoll_loop", .lengths = SHORT};
    struct timespec resolution;
    pthread_t thread;

    calibrate();
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    tick = resolution.tv_nsec;
    sigaction(SIGUSR1, &action, NULL);
    if (everyone)
        sigaction(SIGPROF, &action, NULL);
    if (loop)
        start(&in_loop, MS, event_loop);
    else
        start_all();
    if (everyone && pthread_create(&thread, NULL, signal_everyone, NULL) != 0)
        abort();
    wait_for_end(clock_now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9));
    if (everyone)
        pthread_join(thread, NULL);
    for (int i = 0; i < waiter_count; i++) {
        struct waiter *w = &waiters[i];

        join(w);
        printf("%s %s %ld %ld %ld\n", w->call->name, length_name(w->ns),
               w->waits, w->interrupted, w->early);
    }
    return 0;
}
