/* SPDX-License-Identifier: MIT */
/* credentials.c -- see credentials.h. */
#include <linux/capability.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/phase.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "sampling/sampler_thread.h"
#include "sampling/single_thread.h"
#include "doze.h"
#include "left.h"
#include "credentials.h"

/* Longest wait for the sampler, in ns. Without its answer the program may be
 * aborted, so the limit is long: on a slow machine the sampler waits for a
 * CPU. */
#define FOLLOW_NS 10000000000u

/* The capabilities that decide about a change of ids: capabilities(7). */
struct rights {
    struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
    long keep, secure; /* PR_GET_KEEPCAPS, PR_GET_SECUREBITS */
};

static OF_PROCESS struct rights wanted_rights;
static OF_PROCESS uint32_t heir; /* the user that gets the spool */
/* The thread that asks the sampler, 0: none. */
static OF_PROCESS _Atomic uint32_t owner;
static OF_PROCESS _Atomic uint32_t wanted, followed;

/* Number of nested changes that the program's only thread is in. While it is
 * not 0: whether libc is to believe in one thread after them. */
static volatile uint32_t lone_changes;

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

/* Become the thread that asks the sampler, after earlier ones. Returns false if
 * a handler has interrupted the thread that asks, or time is up. */
static bool
take_turn(uint64_t until)
{
    uint32_t before = 0, own = (uint32_t)sys_gettid();
    while (!atomic_compare_exchange_strong(&owner, &before, own)) {
        if (before == own || clock_expires(until))
            return false;
        sys_futex_wait(&owner, before, until);
        before = 0;
    }
    return true;
}

void
credentials_before_change(uint32_t uid)
{
    /* While fork handlers run, no sampler exists yet. */
    if (!phase_is_running() || !sampler_thread_is_launched())
        return;
    bool is_superuser = sys_geteuid() == 0;
    /* The next user may not be allowed to make the spool. */
    if (doze_is_on() && is_superuser)
        doze_hurry(DOZE_ATTACH_NS);
    if (is_superuser && uid != 0 && uid != CREDENTIALS_SAME_USER)
        left_mark();
    if (lone_changes != 0 || single_thread_is_believed()) {
        lone_changes++;
        single_thread_believe(false);
    }
    if (!take_turn(clock_now() + FOLLOW_NS))
        return;
    read_rights(&wanted_rights);
    heir = is_superuser && uid != 0 ? uid : CREDENTIALS_SAME_USER;
    uint32_t mine = atomic_fetch_add(&wanted, 1) + 1;
    ask_ring();
    sampler_thread_wait_for(&followed, mine, FOLLOW_NS);
    atomic_store(&owner, 0);
    sys_futex_wake(&owner, 1);
}

int
credentials_after_change(int result)
{
    if (lone_changes != 0 && phase_is_own() && --lone_changes == 0)
        single_thread_believe(true);
    return result;
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
    if (heir != CREDENTIALS_SAME_USER)
        journal_give(heir);
    read_rights(&own);
    /* Before the capabilities, because setting these bits needs CAP_SETPCAP. */
    if (own.secure != wanted_rights.secure)
        (void)control(PR_SET_SECUREBITS, wanted_rights.secure);
    if (own.keep != wanted_rights.keep)
        (void)control(PR_SET_KEEPCAPS, wanted_rights.keep);
    arch_syscall(SYS_capset, (long)&header, (long)wanted_rights.capabilities, 0,
                 0, 0, 0);
    atomic_store(&followed, now);
    sys_futex_wake(&followed, 1 << 30);
}
