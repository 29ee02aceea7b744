/* SPDX-License-Identifier: MIT */
/*
 * strange_signals.c -- signals with every kind of siginfo that one process may
 * give to another, or a thread to itself, at the numbers that the profiler
 * uses. First the program's own handlers must see each signal that the program
 * sends itself, with the code and value that it sent; only one that was sent
 * while the profiler's own was pending may be missing, for the kernel keeps one
 * of a number. Then a child guesses at the profiler's cookies, all of them: the
 * program must come out of that with its work done right.
 *
 * Argument: signals of each number to send, 20000.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define TRAP_PERF_CODE 6
#define PROFILER_CODE (-0x5350) /* signals/cookie.h, COOKIE_CODE */
#define KERNEL_SIGINFO 48       /* what lies after must be 0 (E2BIG) */
#define SECRETS 65536u
#define OWN_KIND 0x50455246u /* HANDLER_OWN_PERF and the two after it */

static volatile sig_atomic_t seen, seen_signo, seen_code;
static volatile uint64_t seen_value;
static uint64_t random_state = 88172645463325252u;

static uint64_t
random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void
see(int signo, siginfo_t *info, void *context)
{
    (void)context;
    seen++;
    seen_signo = signo;
    seen_code = info->si_code;
    seen_value = (uint64_t)info->si_value.sival_ptr;
}

static void
handle(int signo)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = see;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(signo, &action, NULL) != 0)
        work_fail("sigaction");
}

/* A code that a process may give: any below 0 to others, any to itself. */
static int
random_code(int signo)
{
    static const int codes[] = {SI_QUEUE,   SI_TIMER,   SI_MESGQ,
                                SI_ASYNCIO, SI_SIGIO,   SI_TKILL,
                                -60,        SI_ASYNCNL, -0x7fffffff};
    uint64_t word = random_word();
    int code;

    if (signo == SIGTRAP && word % 4 == 0)
        return word % 8 < 4 ? TRAP_PERF_CODE : (int)(word >> 8 & 7);
    if (word % 3 == 0)
        return codes[(word >> 8) % (sizeof codes / sizeof codes[0])];
    code = -(int)(word >> 40) - 1;
    return code == PROFILER_CODE ? -1 : code;
}

/* Send SIGNO to the calling thread. Returns whether its handler saw it. */
static int
send_one(int signo)
{
    siginfo_t info;
    int before = seen, code = random_code(signo);
    uint64_t value = random_word() >> random_word() % 64;

    memset(&info, 0, sizeof info);
    for (size_t i = 0; i < KERNEL_SIGINFO; i++)
        ((unsigned char *)&info)[i] = (unsigned char)random_word();
    info.si_signo = signo;
    info.si_code = code;
    info.si_value.sival_ptr = (void *)value;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), signo, &info) != 0)
        work_fail("rt_tgsigqueueinfo");
    if (seen == before)
        return 0;
    if (seen != before + 1 || seen_signo != signo || seen_code != code ||
        seen_value != value)
        work_fail("a handler saw what was not sent");
    return 1;
}

static void
send_many(int signo, unsigned count)
{
    unsigned arrived = 0;

    for (unsigned i = 0; i < count; i++)
        arrived += (unsigned)send_one(signo);
    if (arrived < count - count / 20)
        work_fail("signals were lost");
}

static void
guess(pid_t parent, int signo, int code, uint64_t value)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = code;
    info.si_pid = parent;
    info.si_value.sival_ptr = (void *)value;
    if (syscall(SYS_rt_sigqueueinfo, parent, signo, &info) != 0)
        _exit(errno == ESRCH ? 0 : 1);
}

/* Every possible secret: as a question of the sampler, as a timer, as an
 * event. */
static void
guess_all(pid_t parent)
{
    for (uint64_t secret = 0; secret < SECRETS; secret++) {
        uint64_t high = secret << 48, rest = random_word() >> 16;

        guess(parent, SIGPROF, PROFILER_CODE, high | (rest & 0x0fffffff));
        guess(parent, SIGPROF, PROFILER_CODE, high | rest);
        guess(parent, SIGPROF, SI_TIMER, high | (OWN_KIND + rest % 3));
        guess(parent, SIGTRAP, SI_TIMER, high | (OWN_KIND + rest % 3));
    }
    _exit(0);
}

/* A sum that comes out as often as it is made. */
static FRAME uint64_t
work(void)
{
    uint64_t mix = 1;

    for (unsigned i = 0; i < 10000000; i++)
        mix = mix * 6364136223846793005u + 1442695040888963407u;
    return mix;
}

int
main(int argc, char **argv)
{
    unsigned count = work_argument(argc, argv, 1, 20000);
    uint64_t right = work();
    pid_t child, parent = getpid();
    int status = 0;

    handle(SIGPROF);
    handle(SIGTRAP);
    handle(SIGURG);
    send_many(SIGPROF, count);
    send_many(SIGTRAP, count);
    send_many(SIGURG, count);
    child = fork();
    if (child == 0)
        guess_all(parent);
    while (child < 0 || waitpid(child, &status, WNOHANG) == 0)
        if (work() != right)
            work_fail("a computation went wrong");
    if (status != 0)
        work_fail("the child could not send");
    puts("ok");
    return 0;
}
