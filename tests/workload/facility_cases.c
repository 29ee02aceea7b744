/* SPDX-License-Identifier: MIT */
/*
 * facility_cases.c -- what the kernel and libc do for a process outside its
 * threads, or in threads that the program has not made itself: io_uring,
 * timers, message queues, asynchronous reads and lookups; and descriptors that
 * stand for something else. No wait may be interrupted. What the kernel does
 * not have is "not here".
 *
 * Arguments: a word of the table at the end; a number where a case wants one.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

static atomic_uint notices, interrupted;
static sem_t noticed;

static void
notice(union sigval value)
{
    cases_compute(2);
    atomic_fetch_add(&notices, (unsigned)value.sival_int);
    sem_post(&noticed);
}

/* Until NOTICE has been called COUNT times; no signal of the program comes. */
static void
wait_for_notices(unsigned count)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    while (count > 0)
        if (sem_timedwait(&noticed, &until) == 0)
            count--;
        else if (errno == EINTR)
            atomic_fetch_add(&interrupted, 1);
        else
            work_fail("nobody calls");
}

static struct sigevent
call_with(int value)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};

    event.sigev_value.sival_int = value;
    event.sigev_notify_function = notice;
    return event;
}

/* io_uring by system calls alone. */
struct ring {
    int fd;
    char *queues;
    struct io_uring_params is;
    struct io_uring_sqe *entries;
    unsigned waiting; /* written, not submitted */
};

#define RING 32u
#define QUEUES (64u << 10)

static atomic_uint *
ring_word(struct ring *ring, unsigned offset)
{
    return (atomic_uint *)(void *)(ring->queues + offset);
}

static int
ring_open(struct ring *ring, unsigned flags)
{
    memset(ring, 0, sizeof *ring);
    ring->is.flags = flags;
    ring->is.sq_thread_idle = 50;
    ring->fd = (int)syscall(SYS_io_uring_setup, RING, &ring->is);
    if (ring->fd < 0)
        return -1;
    ring->queues = mmap(NULL, QUEUES, PROT_READ | PROT_WRITE, MAP_SHARED,
                        ring->fd, IORING_OFF_SQ_RING);
    ring->entries =
        mmap(NULL, RING * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
             MAP_SHARED, ring->fd, IORING_OFF_SQES);
    if (ring->queues == MAP_FAILED || (void *)ring->entries == MAP_FAILED)
        work_fail("io_uring's memory");
    return 0;
}

static void
ring_close(struct ring *ring)
{
    munmap(ring->queues, QUEUES);
    munmap(ring->entries, RING * sizeof(struct io_uring_sqe));
    close(ring->fd);
}

/* Write an entry that leads to an answer with VALUE; a read is of one byte at
 * that place of the file. */
static void
ring_put(struct ring *ring, unsigned operation, int fd, void *memory,
         unsigned value)
{
    atomic_uint *tail = ring_word(ring, ring->is.sq_off.tail);
    unsigned at = atomic_load(tail) % RING;

    ring->entries[at] =
        (struct io_uring_sqe){.opcode = (uint8_t)operation,
                              .flags = IOSQE_ASYNC,
                              .fd = fd,
                              .addr = (uintptr_t)memory,
                              .len = operation != IORING_OP_OPENAT,
                              .off = operation == IORING_OP_READ ? value : 0,
                              .user_data = value};
    *(unsigned *)ring_word(ring, ring->is.sq_off.array + 4 * at) = at;
    atomic_fetch_add(tail, 1);
    ring->waiting++;
}

/* Submit, and wait for COUNT answers. */
static void
ring_wait(struct ring *ring, unsigned count)
{
    atomic_uint *head = ring_word(ring, ring->is.cq_off.head);
    atomic_uint *tail = ring_word(ring, ring->is.cq_off.tail);
    unsigned flags = IORING_ENTER_GETEVENTS;

    if (ring->is.flags & IORING_SETUP_SQPOLL)
        flags |= IORING_ENTER_SQ_WAKEUP;
    while (ring->waiting > 0 || atomic_load(tail) - atomic_load(head) < count) {
        long result = syscall(SYS_io_uring_enter, ring->fd, ring->waiting,
                              count, flags, NULL, 0);

        if (result >= 0)
            ring->waiting -= (unsigned)result;
        else if (errno == EINTR)
            atomic_fetch_add(&interrupted, 1);
        else
            work_fail("io_uring_enter");
    }
}

/* The sum of the next COUNT results; *VALUES is increased by their values. */
static int
ring_take(struct ring *ring, unsigned count, unsigned *values)
{
    atomic_uint *head = ring_word(ring, ring->is.cq_off.head);
    const struct io_uring_cqe *answers =
        (void *)ring_word(ring, ring->is.cq_off.cqes);
    int sum = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct io_uring_cqe *answer =
            &answers[atomic_load(head) % ring->is.cq_entries];

        sum += answer->res;
        *values += (unsigned)answer->user_data;
        atomic_fetch_add(head, 1);
    }
    return sum;
}

static void
ring_read_file(struct ring *ring)
{
    int fd = memfd_create("file", 0), sum = 0, bytes = 0;
    unsigned values = 0;
    char got[RING];

    if (fd < 0 || write(fd, "abcdefghijklmnopqrstuvwxyz012345", RING) != RING)
        work_fail("memfd");
    for (unsigned round = 0; round < cases_number; round++) {
        for (unsigned i = 0; i < RING; i++) {
            ring_put(ring, IORING_OP_READ, fd, got + i, i);
            ring_wait(ring, i + 1);
        }
        sum += ring_take(ring, RING, &values);
        for (unsigned i = 0; i < RING; i++)
            bytes += got[i];
    }
    printf("%d read, sum %d, values %u\n", sum, bytes, values);
    close(fd);
}

/* Workers that wait in the kernel for something that only this thread can do. A
 * signal to one of them would end its wait. */
static void
ring_wait_in_workers(struct ring *ring)
{
    struct __kernel_timespec limit = {.tv_nsec = 30000000};
    unsigned values = 0;
    char path[] = "fifo";

    if (mkfifo(path, 0600) != 0)
        work_fail("mkfifo");
    for (unsigned i = 0; i < 4; i++)
        ring_put(ring, IORING_OP_OPENAT, AT_FDCWD, path, i);
    ring_put(ring, IORING_OP_TIMEOUT, -1, &limit, 100);
    ring_wait(ring, 1);
    printf("timeout: %s\n", strerror(-ring_take(ring, 1, &values)));
    cases_compute(50);
    close(open(path, O_WRONLY));
    ring_wait(ring, 4);
    for (unsigned i = 0; i < 4; i++) {
        int fd = ring_take(ring, 1, &values);

        printf("open: %s\n", fd < 0 ? strerror(-fd) : "well");
        close(fd);
    }
    printf("values %u\n", values);
    unlink(path);
}

static void
io_uring(void)
{
    static const unsigned flags[] = {0, IORING_SETUP_SQPOLL};

    for (unsigned i = 0; i < 2; i++) {
        struct ring ring;

        if (ring_open(&ring, flags[i]) != 0) {
            puts("not here");
            return;
        }
        ring_read_file(&ring);
        ring_wait_in_workers(&ring);
        ring_close(&ring);
    }
}

/* Timers that call, from libc's own thread, and that signal one thread. */
static void *
wait_for_timer(void *argument)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGUSR1};
    struct itimerspec when = {{0, 5000000}, {0, 5000000}};
    sigset_t set;
    siginfo_t info;
    timer_t timer;

    event.sigev_value.sival_int = 77;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        work_fail("timer_create");
    timer_settime(timer, 0, &when, NULL);
    for (unsigned i = 0; i < 5; i++) {
        int got;

        cases_compute(1);
        while ((got = sigwaitinfo(&set, &info)) < 0)
            atomic_fetch_add(&interrupted, 1);
        if (got != SIGUSR1 || info.si_code != SI_TIMER ||
            info.si_value.sival_int != 77)
            puts("not the timer's signal");
    }
    timer_delete(timer);
    return argument;
}

static void
timers(void)
{
    struct itimerspec when = {{0, 0}, {0, 2000000}};
    struct sigevent event = call_with(3);
    pthread_t thread;
    sigset_t set;
    timer_t made[20];

    for (unsigned i = 0; i < 20; i++)
        if (timer_create(CLOCK_MONOTONIC, &event, &made[i]) != 0 ||
            timer_settime(made[i], 0, &when, NULL) != 0)
            work_fail("timer");
    wait_for_notices(20);
    for (unsigned i = 0; i < 20; i++)
        timer_delete(made[i]);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, wait_for_timer, NULL);
    pthread_join(thread, NULL);
}

static void
message_queue(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 16};
    char name[32], got[16];
    mqd_t queue;

    snprintf(name, sizeof name, "/facility.%d", getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (queue < 0) {
        puts("not here");
        return;
    }
    mq_unlink(name);
    for (unsigned i = 0; i < 10; i++) {
        struct sigevent event = call_with(5);

        if (mq_notify(queue, &event) != 0 || mq_send(queue, "word", 4, 0) != 0)
            work_fail("mq_notify");
        wait_for_notices(1);
        if (mq_receive(queue, got, sizeof got, NULL) != 4)
            work_fail("mq_receive");
    }
    mq_close(queue);
}

static void
count_signal(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    atomic_fetch_add(&notices, (unsigned)info->si_value.sival_int);
    sem_post(&noticed);
}

/* libc's threads for these block all signals. */
static void
read_asynchronously(void)
{
    struct sigaction action = {.sa_sigaction = count_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    struct aiocb reads[10];
    int fd = open("/proc/self/exe", O_RDONLY), ends[2];
    long sum = 0;
    char got[10][64];

    sigaction(SIGRTMIN + 3, &action, NULL);
    if (fd < 0 || pipe(ends) != 0)
        work_fail("open");
    for (unsigned i = 0; i < 10; i++) {
        reads[i] = (struct aiocb){.aio_fildes = i < 8 ? fd : ends[0],
                                  .aio_buf = got[i],
                                  .aio_nbytes = sizeof got[i],
                                  .aio_sigevent = call_with(7)};
        if (i % 2 == 1)
            reads[i].aio_sigevent.sigev_notify = SIGEV_SIGNAL;
        reads[i].aio_sigevent.sigev_signo = SIGRTMIN + 3;
        if (aio_read(&reads[i]) != 0)
            work_fail("aio_read");
    }
    cases_compute(50);
    printf("in progress: %d\n", aio_error(&reads[9]) == EINPROGRESS);
    if (write(ends[1], got, sizeof got[0]) != sizeof got[0])
        work_fail("write");
    close(ends[1]);
    while (atomic_load(&notices) < 70)
        work_sleep(1);
    for (unsigned i = 0; i < 10; i++)
        sum += aio_error(&reads[i]) == 0 ? aio_return(&reads[i]) : 10000;
    printf("%ld bytes\n", sum);
}

static void
look_up(void)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct gaicb lookups[10], *list[10];
    struct sigevent event = call_with(9);

    memset(lookups, 0, sizeof lookups);
    for (unsigned i = 0; i < 10; i++) {
        list[i] = &lookups[i];
        lookups[i].ar_name = i % 2 == 0 ? "127.0.0.1" : "nobody at home";
        lookups[i].ar_request = &hints;
    }
    if (getaddrinfo_a(GAI_NOWAIT, list, 10, &event) != 0)
        work_fail("getaddrinfo_a");
    wait_for_notices(1);
    for (unsigned i = 0; i < 10; i++)
        printf("%d ", gai_error(list[i]));
    puts("looked up");
}

/* An event loop of every kind of descriptor that stands for something else. */
#define SOURCES 4u
static int sources[SOURCES]; /* timerfd, eventfd, inotify, signalfd */

static void *
make_events(void *argument)
{
    const pthread_t *loop = argument;
    uint64_t one = 1;

    for (unsigned i = 0; i < 10; i++) {
        cases_compute(3);
        if (write(sources[1], &one, sizeof one) != sizeof one)
            work_fail("eventfd");
        close(open("seen", O_WRONLY | O_CREAT, 0600));
        unlink("seen");
        pthread_sigqueue(*loop, SIGRTMIN + 2, (union sigval){.sival_int = 1});
    }
    return argument;
}

static int
open_sources(void)
{
    struct itimerspec when = {{0, 1000000}, {0, 1000000}};
    int loop = epoll_create1(0);
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sources[0] = timerfd_create(CLOCK_MONOTONIC, 0);
    sources[1] = eventfd(0, EFD_SEMAPHORE);
    sources[2] = inotify_init1(0);
    sources[3] = signalfd(-1, &set, 0);
    inotify_add_watch(sources[2], ".", IN_CREATE | IN_DELETE);
    for (unsigned i = 0; i < SOURCES; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};

        epoll_ctl(loop, EPOLL_CTL_ADD, sources[i], &event);
    }
    timerfd_settime(sources[0], 0, &when, NULL);
    return loop;
}

/* The timer's expiries; of the others, what bytes there are. */
static void
events(void)
{
    pthread_t thread, self = pthread_self();
    uint64_t got[64], sums[SOURCES] = {0};
    int loop = open_sources();
    unsigned early = 0;

    pthread_create(&thread, NULL, make_events, &self);
    while (sums[0] < 50 || sums[1] < 80 || sums[2] < 640 || sums[3] < 1280) {
        struct epoll_event event;
        int ready = epoll_wait(loop, &event, 1, 5000);

        if (ready < 0)
            atomic_fetch_add(&interrupted, errno == EINTR);
        early += ready == 0;
        if (ready > 0) {
            unsigned i = event.data.u32;
            ssize_t size = read(sources[i], got, sizeof got);

            sums[i] += i == 0 ? got[0] : (uint64_t)size;
        }
    }
    pthread_join(thread, NULL);
    printf("early %u, bytes %lu %lu %lu\n", early, sums[1], sums[2], sums[3]);
}

static const struct named_case cases[] = {
    {"io_uring", io_uring, 60}, {"timers", timers, 0},
    {"mq", message_queue, 0},   {"aio", read_asynchronously, 0},
    {"lookup", look_up, 0},     {"events", events, 0},
};

static void
say_counts(void)
{
    printf("%u noticed, %u interrupted\n", atomic_load(&notices),
           atomic_load(&interrupted));
}

int
main(int argc, char **argv)
{
    sem_init(&noticed, 0, 0);
    atexit(say_counts);
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
