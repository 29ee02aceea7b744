/* SPDX-License-Identifier: MIT */
/*
 * floor.c -- a library to preload: interrupts the program as libsprof does, and
 * does nothing then. What a profiler costs beyond this is its own part.
 *
 * FLOOR_WAY is "event" (a perf event of the task clock that sends no signal),
 * "perf" (one that sends SIGTRAP to an empty handler) or "timer" (a CPU timer
 * of each process with an empty handler). FLOOR_HZ is the rate. FLOOR_ONLY is
 * the name of the executable that is interrupted; empty: any. At exit the
 * number of interruptions is written to the file FLOOR_OUTPUT.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned long interruptions;
static const char *output;
static pid_t owner;

static void
count(int signo)
{
    (void)signo;
    atomic_fetch_add_explicit(&interruptions, 1, memory_order_relaxed);
}

static void
install(int signo)
{
    struct sigaction action = {.sa_handler = count,
                               .sa_flags = SA_RESTART | SA_ONSTACK};

    sigaction(signo, &action, NULL);
}

static void
open_event(unsigned long hz, int with_signal)
{
    struct perf_event_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = 1000000000ul / hz;
    attributes.exclude_kernel = geteuid() != 0;
    attributes.inherit = 1;
    attributes.remove_on_exec = 1;
    if (with_signal) {
        attributes.inherit_thread = 1;
        attributes.sigtrap = 1;
    }
    (void)syscall(SYS_perf_event_open, &attributes, 0, -1, -1,
                  PERF_FLAG_FD_CLOEXEC);
}

static void
start_timer(unsigned long hz)
{
    struct sigevent to = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec when = {.it_value.tv_nsec = (long)(1000000000ul / hz)};
    timer_t timer;

    when.it_interval = when.it_value;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &to, &timer) == 0)
        timer_settime(timer, 0, &when, NULL);
}

__attribute__((constructor)) static void
begin(void)
{
    const char *way = getenv("FLOOR_WAY"), *only = getenv("FLOOR_ONLY");
    const char *rate = getenv("FLOOR_HZ");
    unsigned long hz = rate != NULL ? strtoul(rate, NULL, 10) : 0;

    if (way == NULL || hz == 0 ||
        (only != NULL && *only != '\0' &&
         strcmp(only, program_invocation_short_name) != 0))
        return;
    output = getenv("FLOOR_OUTPUT");
    owner = getpid();
    install(SIGTRAP);
    install(SIGPROF);
    if (strcmp(way, "timer") == 0)
        start_timer(hz);
    else
        open_event(hz, strcmp(way, "perf") == 0);
}

__attribute__((destructor)) static void
end(void)
{
    char text[32];
    int file, length;

    if (output == NULL || owner != getpid())
        return;
    length = snprintf(text, sizeof text, "%lu\n", atomic_load(&interruptions));
    file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    (void)!write(file, text, (size_t)length);
    close(file);
}
