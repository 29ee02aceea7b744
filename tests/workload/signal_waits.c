/* SPDX-License-Identifier: MIT */
/*
 * signal_waits.c -- a program that waits for the signals that a profiler
 * borrows, or is interrupted by them, in every way. It prints what it sees;
 * that must not differ under the profiler. Arguments: traps.h.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "by_number.h"
#include "traps.h"
#include "work.h"

static double
seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Whether a signal ends a read from an empty pipe, into which something is
 * written only after the signal. */
static int pipe_ends[2];

/* Wait until the main thread waits in read(2), for some time at most. Another
 * wait may be caused by a look at the thread, and be over at once. */
static void
wait_for_read(void)
{
    char path[64], line[256] = "", call[16];
    int length = snprintf(call, sizeof call, "%d ", SYS_read);
    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", (long)getpid());
    for (int i = 0; i < 6000 && strncmp(line, call, (size_t)length) != 0; i++) {
        pause_ms(10);
        FILE *stream = fopen(path, "r");
        if (stream == NULL || fgets(line, sizeof line, stream) == NULL)
            work_fail("syscall");
        fclose(stream);
    }
}

static void *
send_then_write(void *unused)
{
    int before = count;
    pause_ms(50);
    wait_for_read();
    pthread_kill(main_thread, signo);
    /* A thread that has not run since finds the byte before the signal. */
    for (int i = 0; i < 6000 && count == before; i++)
        pause_ms(10);
    pause_ms(20);
    if (write(pipe_ends[1], "x", 1) != 1)
        work_fail("write");
    return unused;
}

static void
read_of(int flags)
{
    char byte;
    if (pipe(pipe_ends) != 0)
        work_fail("pipe");
    handle(flags);
    print_action(signo);
    pthread_t sender = start_thread(send_then_write);
    errno = 0;
    ssize_t got = read(pipe_ends[0], &byte, 1);
    printf("read %zd %s count %d\n", got, strerror(errno), (int)count);
    pthread_join(sender, NULL);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void
interrupted_read(void)
{
    begin_computing();
    read_of(0);
    read_of(SA_RESTART);
    read_of(SA_NODEFER | SA_ONSTACK);
    end_computing();
}

static void
profiling_timer(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}};
    handle(SA_RESTART);
    setitimer(ITIMER_PROF, &every, NULL);
    sink += work_burn(500);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);
    printf("%s\n", count >= 20 ? "many" : "few");
}

static void
posix_timers(void)
{
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID,
                                       CLOCK_PROCESS_CPUTIME_ID};
    handle(SA_RESTART);
    for (unsigned i = 0; i < 6; i++) {
        struct sigevent event = {.sigev_signo = signo};
        struct itimerspec every = {{0, 10000000}, {0, 10000000}};
        timer_t timer;
        event.sigev_notify = i < 3 ? SIGEV_SIGNAL : SIGEV_THREAD_ID;
        event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
        if (timer_create(clocks[i % 3], &event, &timer) != 0)
            work_fail("timer_create");
        count = 0;
        timer_settime(timer, 0, &every, NULL);
        sink += work_burn(150);
        timer_delete(timer);
        printf("%u %s\n", i, count >= 5 ? "many" : "few");
    }
}

/* What waits for a set does so by syscall(2). */
static int is_by_number;

static int
wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    return is_by_number ? number_sigtimedwait(set, info, limit)
                        : sigtimedwait(set, info, limit);
}

static volatile int received;

static void *
wait_for_three(void *unused)
{
    sigset_t set = only(signo);
    int number;
    for (int i = 0; i < 3; i++) {
        int error = sigwait(&set, &number);
        printf("sigwait %d %d\n", error, error == 0 ? number : 0);
        received++;
    }
    return unused;
}

static void
waits(void)
{
    sigset_t set = only(signo);
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    begin_computing();
    thread = start_thread(wait_for_three);
    for (int i = 0; i < 3; i++) {
        pause_ms(50);
        if (i == 1)
            pthread_kill(thread, signo);
        else
            kill(getpid(), signo);
        while (received <= i)
            pause_ms(1);
    }
    pthread_join(thread, NULL);
    end_computing();
    print_mask("mask");
}

/* No signal is sent: the wait lasts as long as was asked for. */
static void
waits_in_vain(void)
{
    struct timespec limit = {0, 100000000}, start;
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    begin_computing();
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 3; i++) {
        clock_gettime(CLOCK_MONOTONIC, &start);
        int result = wait_for(&all, &info, &limit);
        int error = errno;
        printf("%d %s %s\n", result, strerror(error),
               seconds_since(&start) >= 0.099 ? "in time" : "early");
    }
    end_computing();
}

/* A signal that was sent before the wait is there. */
static void
waits_late(void)
{
    sigset_t set = only(signo), all;
    siginfo_t info;
    union sigval value = {.sival_int = 77};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigqueue(getpid(), signo, value);
    sink += work_burn(20);
    print_pending("pending");
    int got = wait_for(&set, &info, NULL);
    printf("%d code %d value %d\n", got, info.si_code, info.si_value.sival_int);
    print_pending("pending");
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    raise(signo);
    got = wait_for(&all, &info, NULL);
    printf("%d code %d\n", got, info.si_code);
}

static void
descriptor(void)
{
    struct signalfd_siginfo info;
    sigset_t set = only(signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    begin_computing();
    int flags = SFD_NONBLOCK | SFD_CLOEXEC;
    int fd = is_by_number ? number_signalfd(-1, &set, flags)
                          : signalfd(-1, &set, flags);
    struct pollfd wanted = {fd, POLLIN, 0};
    printf("before %d\n", poll(&wanted, 1, 100));
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            raise(signo);
        else
            kill(getpid(), signo);
        int ready = poll(&wanted, 1, 60000);
        ssize_t got = read(fd, &info, sizeof info);
        printf("%d %zd %d\n", ready, got, got > 0 ? (int)info.ssi_signo : 0);
    }
    printf("after %d\n", poll(&wanted, 1, 100));
    end_computing();
}

static void
waits_by_number(void)
{
    is_by_number = 1;
    waits_late();
    descriptor();
    waits_in_vain();
}

static void
pending(void)
{
    sigset_t set = only(signo);
    handle(0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    begin_computing();
    raise(signo);
    kill(getpid(), signo);
    sink += work_burn(30);
    print_pending("pending");
    print_mask("mask");
    printf("count %d\n", (int)count);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("came %s\n", count >= 1 ? "yes" : "no");
    print_pending("pending");
    end_computing();
}

/* Blocked first, then handled: the disposition comes when threads block. */
static void
pending_default(void)
{
    sigset_t set = only(signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    begin_computing();
    raise(signo);
    sink += work_burn(30);
    print_pending("pending");
    fflush(stdout);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    puts("still here");
}

/* Both are sigpause(3), by the names of their symbols. */
int pause_of_system_v(int) __asm__("__xpg_sigpause");
int pause_of_bsd(int) __asm__("sigpause");

/* Twelve waits, each ended by a signal to the thread and to the process. */
#define MASK_WAYS 24

static void
wait_under_mask(int how)
{
    sigset_t none;
    struct timespec limit = {60, 0};
    struct epoll_event event;
    int result = 0, fd = epoll_create1(0);
    sigemptyset(&none);
    pthread_t sender = start_thread(how % 2 ? send_to_process : send_to_thread);
    errno = 0;
    switch (how / 2) {
    case 0:
        result = sigsuspend(&none);
        break;
    case 1:
        result = ppoll(NULL, 0, &limit, &none);
        break;
    case 2:
        result = pselect(0, NULL, NULL, NULL, &limit, &none);
        break;
    case 3:
        result = epoll_pwait(fd, &event, 1, 60000, &none);
        break;
    case 4:
        result = epoll_pwait2(fd, &event, 1, &limit, &none);
        break;
    case 5:
        result = pause_of_system_v(signo);
        break;
    case 6:
        result = pause_of_bsd(0);
        break;
    case 7:
        result = number_sigsuspend(&none);
        break;
    case 8:
        result = number_ppoll(NULL, 0, &limit, &none);
        break;
    case 9:
        result = number_pselect(0, NULL, &limit, &none);
        break;
    case 10:
        result = number_epoll_pwait(fd, &event, 1, 60000, &none);
        break;
    default:
        result = number_epoll_pwait2(fd, &event, 1, &limit, &none);
        break;
    }
    printf("%d: %d %s count %d\n", how, result, strerror(errno), (int)count);
    pthread_join(sender, NULL);
    print_mask("mask");
    close(fd);
}

static void
waits_under_masks(void)
{
    sigset_t set = only(signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    begin_computing();
    handle(0);
    for (int how = 0; how < MASK_WAYS; how++)
        wait_under_mask(how);
    end_computing();
}

/* Waits of 30 ms that no SA_RESTART would begin again: nothing ends them. */
static const struct timespec a_while = {0, 30000000};
static const struct timeval a_while_too = {0, 30000};
static int queue, semaphores, word, datagrams, listener;

static struct timespec
later(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += a_while.tv_nsec;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static long
wait_without_signal(unsigned how)
{
    struct timespec until = later(CLOCK_MONOTONIC);
    struct sembuf take = {0, -1, 0};
    struct epoll_event event;
    struct timeval limit = a_while_too;
    struct mmsghdr messages[2];
    memset(messages, 0, sizeof messages);
    switch (how) {
    case 0:
        return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until,
                       NULL, FUTEX_BITSET_MATCH_ANY);
    case 1:
        return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &a_while);
    case 2:
        return semtimedop(semaphores, &take, 1, &a_while);
    case 3:
        return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    case 4:
        return recvmmsg(datagrams, messages, 2, 0, NULL);
    case 5:
        return poll(NULL, 0, 30);
    case 6:
        return select(0, NULL, NULL, NULL, &limit);
    case 7:
        return epoll_wait(queue, &event, 1, 30);
    case 8:
        return nanosleep(&a_while, NULL);
    case 9:
        return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    default:
        return usleep(30000);
    }
}

static void
timeouts(void)
{
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    int early = 0;
    queue = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? listener : datagrams;
        bind(fd, (struct sockaddr *)&any, sizeof any.sun_family);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &a_while_too,
                   sizeof a_while_too);
    }
    listen(listener, 1);
    begin_computing();
    for (unsigned i = 0; i < 22; i++) {
        struct timespec start;
        sink += work_burn(1);
        clock_gettime(CLOCK_MONOTONIC, &start);
        errno = 0;
        long result = wait_without_signal(i % 11);
        int error = errno;
        early += seconds_since(&start) < 0.0299;
        printf("%u: %ld %s\n", i % 11, result, strerror(error));
    }
    for (unsigned i = 0; i < 1000; i++)
        early += poll(NULL, 0, 0) != 0;
    printf("early %d\n", early);
    semctl(semaphores, 0, IPC_RMID);
    end_computing();
}

/* After this thread has blocked the signal, another one sets its handler. */
static void *
handle_there(void *unused)
{
    handle(0);
    return unused;
}

static void
waits_under_old_mask(void)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    begin_computing();
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, handle_there, NULL);
    pthread_join(thread, NULL);
    for (int how = 0; how < MASK_WAYS; how++)
        wait_under_mask(how);
    end_computing();
}

static const struct trap traps[] = {{"interrupted_read", interrupted_read},
                                    {"profiling_timer", profiling_timer},
                                    {"posix_timers", posix_timers},
                                    {"waits", waits},
                                    {"waits_in_vain", waits_in_vain},
                                    {"waits_late", waits_late},
                                    {"descriptor", descriptor},
                                    {"waits_by_number", waits_by_number},
                                    {"pending", pending},
                                    {"pending_default", pending_default},
                                    {"waits_under_masks", waits_under_masks},
                                    {"waits_under_old_mask",
                                     waits_under_old_mask},
                                    {"timeouts", timeouts},
                                    {NULL, NULL}};

int
main(int argc, char **argv)
{
    return traps_run(argc, argv, traps);
}
