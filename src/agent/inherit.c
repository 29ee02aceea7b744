/* SPDX-License-Identifier: MIT */
/*
 * inherit.c -- see inherit.h. Dispositions belong to the whole process: if two
 * threads are here at once, the one that changed a disposition changes it back.
 */
#include "capture/suspend.h"
#include "inherit.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"

/* Whether the program ignores SIGNO. */
static bool
is_ignored(int signo)
{
    struct sigaction action;
    return suspend_program_action(signo, NULL, &action) &&
           action.sa_handler == SIG_IGN;
}

/* Ignore SIGNO, keeping in *REAL what was. False if another thread has done so.
 */
static bool
ignore(int signo, struct sigaction *real)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    return real_sigaction(signo, &action, real) == 0 &&
           real->sa_handler != SIG_IGN;
}

void
inherit_begin(struct inherit *inherit)
{
    for (int i = 0; i < HANDLER_SIGNALS; i++) {
        int signo = lifecycle_is_on() ? handler_shared.signals[i].signo : 0;
        inherit->changed[i] =
            signo != 0 && is_ignored(signo) && ignore(signo, &inherit->real[i]);
    }
    mask_before_exec();
}

void
inherit_end(const struct inherit *inherit)
{
    mask_after_failed_exec();
    for (int i = 0; i < HANDLER_SIGNALS; i++)
        if (inherit->changed[i])
            real_sigaction(handler_shared.signals[i].signo, &inherit->real[i],
                           NULL);
}
