/* SPDX-License-Identifier: MIT */
/* cookie.c -- see cookie.h. */
#include <linux/errno.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/phase.h"
#include "base/sys.h"
#include "signals.h"
#include "cookie.h"
#include "base/poison.h"

HOT_STATE uint64_t cookie_secret;

void
cookie_begin(void)
{
    if (getrandom(&cookie_secret, 2, GRND_NONBLOCK) != 2)
        cookie_secret = clock_now() & 0xffff;
}

long
cookie_send(pid_t tid, int signo, uint64_t cookie)
{
    return sys_queue_signal(phase_process(), tid, signo, COOKIE_CODE, cookie);
}

bool
cookie_order(pid_t tid, uint32_t what)
{
    int signo = signals_number(SIGNALS_ASK);
    return signo == 0 ||
           cookie_send(tid, signo, cookie_make(what, 0)) != -ESRCH;
}
