/* SPDX-License-Identifier: MIT */
/*
 * stray_signals.c -- signals for the process, of which its main thread blocks
 * none, while other threads compute, nap, begin and end. The kernel gives them
 * to the main thread. Prints "ok", or how many others handled, and how many did
 * not end the main thread's wait.
 *
 *   stray_signals WAY [COUNT]
 *
 * Without a WAY all ways are printed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t here, elsewhere, wrong_info;
static volatile unsigned long sink;
static pid_t sender; /* the process that si_pid must name, 0: the kernel */
static int handled;  /* before the one that is waited for */
static int go[2], never[2];

static void
handle(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    int saved = errno;
    if (syscall(SYS_gettid) == getpid())
        here++;
    else
        elsewhere++;
    if (sender != 0 && info->si_pid != sender)
        wrong_info++;
    errno = saved;
}

static void *
compute(void *unused)
{
    for (;;)
        sink++;
    return unused;
}

static void *
nap(void *unused)
{
    for (;;)
        usleep(700);
    return unused;
}

static void *
end_at_once(void *unused)
{
    return unused;
}

static void *
make_threads(void *unused)
{
    pthread_t thread;
    for (;;) {
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
        usleep(300);
    }
    return unused;
}

static void *
make_children(void *unused)
{
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        usleep(2000);
    }
    return unused;
}

static void *
load(void *unused)
{
    for (;;) {
        void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            dlclose(library);
        usleep(500);
    }
    return unused;
}

/* How the main thread waits: each returns when a signal has come, or after a
 * minute if none has ended it. */

static bool
by_nanosleep(void)
{
    return nanosleep(&(struct timespec){60, 0}, NULL) == -1;
}

static bool
by_select(void)
{
    struct timeval minute = {60, 0};
    return select(0, NULL, NULL, NULL, &minute) == -1;
}

static bool
by_pselect(void)
{
    struct timespec minute = {60, 0};
    sigset_t none;
    sigemptyset(&none);
    return pselect(0, NULL, NULL, NULL, &minute, &none) == -1;
}

static bool
by_read(void)
{
    char byte;
    return read(never[0], &byte, 1) == -1;
}

static bool
by_sigsuspend(void)
{
    sigset_t none;
    sigemptyset(&none);
    return sigsuspend(&none) == -1;
}

static bool
by_computing(void)
{
    while (here + elsewhere == handled)
        sink++;
    return true;
}

/* Who sends. Each returns once the signal is on its way. */

static void
ask_sender(void)
{
    (void)!write(go[1], "", 1);
}

static void
set_timer(void)
{
    struct itimerval once = {.it_value.tv_usec = 1 + rand() % 3000};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void
make_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        usleep(rand() % 3000);
        _exit(0);
    }
}

struct way {
    const char *name;
    int signo;
    void (*send)(void);
    bool (*wait)(void);
    void *(*other)(void *); /* what one more thread does */
    bool is_blocked;        /* the signal, but in the wait */
};

static const struct way ways[] = {
    {"nanosleep", SIGINT, ask_sender, by_nanosleep, nap, false},
    {"select", SIGUSR1, ask_sender, by_select, nap, false},
    {"pselect", SIGUSR2, ask_sender, by_pselect, nap, true},
    {"read", SIGWINCH, ask_sender, by_read, nap, false},
    {"sigsuspend", SIGTERM, ask_sender, by_sigsuspend, nap, true},
    {"computing", SIGINT, ask_sender, by_computing, compute, false},
    {"timer", SIGALRM, set_timer, by_nanosleep, nap, false},
    {"timer_computing", SIGALRM, set_timer, by_computing, nap, false},
    {"child", SIGCHLD, make_child, by_nanosleep, nap, false},
    {"births", SIGUSR1, ask_sender, by_select, make_threads, false},
    {"forks", SIGUSR1, ask_sender, by_computing, make_children, false},
    {"dlopen", SIGHUP, ask_sender, by_nanosleep, load, false},
};

/* Wait until thread PROCESS sleeps, but not for ever. */
static void
wait_asleep(pid_t process)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, process);
    for (int i = 0; i < 60000; i++) {
        FILE *file = fopen(path, "r");
        const char *end = NULL;
        if (file != NULL && fgets(line, sizeof(line), file) != NULL)
            end = strrchr(line, ')');
        if (file != NULL)
            fclose(file);
        if (end != NULL && end[2] == 'S')
            return;
        usleep(500);
    }
}

/* Another process sends the signal each time that it is asked: when the main
 * thread waits, if it is to wait. */
static pid_t
start_sender(const struct way *way)
{
    pid_t process = getpid(), child = fork();
    if (child != 0)
        return child;
    signal(way->signo, SIG_IGN);
    close(go[1]);
    for (char byte; read(go[0], &byte, 1) == 1;) {
        if (way->wait != by_computing)
            wait_asleep(process);
        usleep(rand() % 3000);
        kill(process, way->signo);
    }
    _exit(0);
}

/* Let one signal come. Returns whether it has ended the wait, as far as that
 * must be: a timer's may come before it. */
static bool
take_one(const struct way *way)
{
    sigset_t one;
    handled = here + elsewhere;
    sigemptyset(&one);
    sigaddset(&one, way->signo);
    if (way->is_blocked)
        pthread_sigmask(SIG_BLOCK, &one, NULL);
    way->send();
    bool is_ended = way->wait();
    if (way->is_blocked)
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    while (here + elsewhere == handled)
        usleep(100);
    while (way->send == make_child && waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return is_ended || way->send != ask_sender;
}

static int
run(const struct way *way, int count)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    int not_ended = 0;
    pthread_t thread;
    if (pipe(go) != 0 || pipe(never) != 0)
        return 1;
    if (way->send == ask_sender)
        sender = start_sender(way);
    close(go[0]);
    sigaction(way->signo, &action, NULL);
    pthread_create(&thread, NULL, compute, NULL);
    pthread_create(&thread, NULL, nap, NULL);
    pthread_create(&thread, NULL, way->other, NULL);
    for (int i = 0; i < count; i++)
        not_ended += !take_one(way);
    bool is_fine = elsewhere + not_ended + wrong_info == 0;
    if (is_fine)
        puts("ok");
    else
        printf("of %d: %d elsewhere, %d waits not ended, %d of somebody else\n",
               count, (int)elsewhere, not_ended, (int)wrong_info);
    fflush(stdout);
    _exit(!is_fine);
}

int
main(int argc, char **argv)
{
    const size_t count = sizeof(ways) / sizeof(ways[0]);
    for (size_t i = 0; i < count; i++)
        if (argc < 2)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            return run(&ways[i], argc > 2 ? atoi(argv[2]) : 100);
    return argc >= 2;
}
