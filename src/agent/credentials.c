/* SPDX-License-Identifier: MIT */
/* credentials.c -- see credentials.h. */
#include <linux/capability.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "capture/suspend.h"
#include "credentials.h"
#include "lifecycle.h"

#define FOLLOW_NS 20000000u

/* What decides over a change of ids: capabilities(7). */
struct rights {
    struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
    long keep, secure; /* PR_GET_KEEPCAPS, PR_GET_SECUREBITS */
};

static struct rights wanted_rights;
static _Atomic uint32_t is_taken; /* by the thread that wants something */
static _Atomic uint32_t wanted, followed;

static long
control(int operation, long argument)
{
    return arch_syscall(SYS_prctl, operation, argument, 0, 0, 0, 0);
}

static void
read_rights(struct rights *rights)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    arch_syscall(SYS_capget, (long)&header, (long)rights->capabilities, 0, 0, 0,
                 0);
    rights->keep = control(PR_GET_KEEPCAPS, 0);
    rights->secure = control(PR_GET_SECUREBITS, 0);
}

void
credentials_before_change(void)
{
    uint32_t none = 0;
    uint64_t until = clock_now() + FOLLOW_NS;
    if (!lifecycle_is_running() ||
        !atomic_compare_exchange_strong(&is_taken, &none, 1))
        return;
    read_rights(&wanted_rights);
    uint32_t mine = atomic_fetch_add(&wanted, 1) + 1;
    suspend_ring();
    uint32_t seen;
    while ((seen = atomic_load(&followed)) != mine && clock_now() < until)
        sys_futex_wait(&followed, seen, until);
    atomic_store(&is_taken, 0);
}

bool
credentials_are_wanted(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed) !=
           atomic_load_explicit(&followed, memory_order_relaxed);
}

void
credentials_follow(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct rights own;
    uint32_t now = atomic_load(&wanted);
    if (now == atomic_load(&followed))
        return;
    read_rights(&own);
    /* Bits that need CAP_SETPCAP while it is still there. */
    if (own.secure != wanted_rights.secure)
        (void)control(PR_SET_SECUREBITS, wanted_rights.secure);
    if (own.keep != wanted_rights.keep)
        (void)control(PR_SET_KEEPCAPS, wanted_rights.keep);
    arch_syscall(SYS_capset, (long)&header, (long)wanted_rights.capabilities, 0,
                 0, 0, 0);
    atomic_store(&followed, now);
    sys_futex_wake(&followed, 1 << 30);
}
