/* SPDX-License-Identifier: MIT */
/*
 * hush.c -- see hush.h. What is ignored is dropped when it is sent, but not if
 * the main thread blocks it, as it may while it waits for the end; so it is
 * ignored once more before it has its own disposition again, which takes away
 * what is pending (sigaction(2), POSIX: "setting a signal action to SIG_IGN").
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "capture/signals.h"
#include "fatal.h"
#include "hush.h"

static struct sys_action before[NSIG];
static uint64_t dropped;

static bool
is_kept(int signo)
{
    static const int kept[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,
                               SIGILL,  SIGTRAP, SIGSYS,  SIGCHLD, SIGCONT,
                               SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (signo == kept[i])
            return true;
    uint64_t ours = signals_borrowed() | signals_closed() | SIGNALS_OF_LIBC;
    return (ours & signals_bit(signo)) != 0 || fatal_is_installed(signo);
}

static void
ignore(int signo)
{
    static const struct sys_action ignored = {.handler = (void *)SIG_IGN};
    (void)sys_set_action(signo, &ignored);
}

void
hush_begin(void)
{
    dropped = 0;
    for (int signo = 1; signo < NSIG; signo++)
        if (!is_kept(signo) && sys_get_action(signo, &before[signo]) == 0 &&
            before[signo].handler != (void *)SIG_IGN) {
            ignore(signo);
            dropped |= signals_bit(signo);
        }
}

void
hush_end_in_child(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if ((dropped & signals_bit(signo)) != 0)
            (void)sys_set_action(signo, &before[signo]);
}

void
hush_end(void)
{
    for (int signo = 1; signo < NSIG; signo++)
        if ((dropped & signals_bit(signo)) != 0)
            ignore(signo);
    hush_end_in_child();
    dropped = 0;
}
