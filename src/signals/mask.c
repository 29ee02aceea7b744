/* SPDX-License-Identifier: MIT */
/*
 * mask.c -- the signal masks that the program believes in; see mask.h. The
 * belief of a thread is one thread-local word, signals_blocked.
 *
 * The hard thing is a child that shares our memory (vfork). Another is a child
 * with a copy of it that we do not know of (clone by system call). The masks of
 * such a child are its own, but the word is not. There the mask is made real
 * before the first change, and the word is not read after that. A thread
 * without thread-local words (base/words.h) really has the masks that it sets.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/phase.h"
#include "base/sys.h"
#include "base/words.h"
#include "alternate.h"
#include "disposition.h"
#include "signals.h"
#include "nested.h"
#include "restart.h"
#include "stray.h"
#include "mask.h"
#include "base/poison.h"

/* A set with at least so many members means "all signals", and not each one. */
#define NEARLY_ALL 32

/* The child in which the mask is real, if this thread or its copy is one. */
static __thread volatile pid_t real_in;

/* Change the real mask by system call. libc's function has a stack protector,
 * which a thread without thread-local storage does not have. */
static void
change_real(int how, uint64_t bits)
{
    if (bits != 0 || how == SIG_SETMASK)
        sys_mask(how, bits, NULL);
}

/* Which of our numbers the calling thread blocks, as the program believes. */
static uint64_t
believed_blocked(void)
{
    return words_are_there() ? signals_blocked : 0;
}

/* Make the kernel's mask what the program believes. */
static void
make_mask_real(void)
{
    uint64_t blocked = believed_blocked(), kept = signals_closed();
    if (alternate_is_avoided())
        kept |= signals_borrowed();
    change_real(SIG_BLOCK, blocked);
    change_real(SIG_UNBLOCK, kept & ~blocked);
}

/* Really block the closed number in this thread, whatever the program believes.
 */
static void
shut_closed(void)
{
    uint64_t closed = signals_closed();
    change_real(SIG_BLOCK, closed);
    if (words_are_there())
        signals_shut |= closed;
}

/* Make the kernel's mask what the program believes if this process is not ours.
 * Returns whether it is that now. */
static bool
is_mask_real(void)
{
    if (phase_is_own())
        return false;
    pid_t pid = sys_getpid();
    if (real_in != pid)
        make_mask_real();
    real_in = pid;
    return true;
}

/* The belief of a thread after SET is applied as HOW says. BEFORE is its belief
 * until then, and OURS has our numbers. */
static uint64_t
belief_after(uint64_t before, int how, const sigset_t *set, uint64_t ours)
{
    uint64_t named = signals_word(set) & ours;
    if (how == SIG_BLOCK)
        return before | named;
    return how == SIG_UNBLOCK ? before & ~named : named;
}

static bool
is_nearly_all(const sigset_t *set)
{
    return __builtin_popcountll(signals_word(set)) >= NEARLY_ALL;
}

/* The word to apply really where the program applies WORD as HOW says. */
static uint64_t
real_word(int how, uint64_t word)
{
    uint64_t closed = signals_closed();
    if (how == SIG_UNBLOCK)
        return word & ~closed;
    word &= ~(signals_borrowed() | closed);
    return how == SIG_SETMASK ? word | closed : word;
}

/* Give back those of our numbers that the program blocks by name: they must be
 * really blocked. The program will wait for them, or restore this mask where we
 * cannot see it (siglongjmp, setcontext). */
static void
give_back_named(const sigset_t *set)
{
    uint64_t named = signals_word(set);
    if ((named & (signals_borrowed() | signals_closed())) == 0 ||
        is_nearly_all(set) || !phase_is_own())
        return;
    if ((named & signals_closed()) != 0)
        disposition_release(SIGNALS_CONTROL);
    for (int signo = 1; signo < NSIG; signo++)
        if ((named & signals_borrowed() & signals_bit(signo)) != 0 &&
            disposition_can_spare(signo))
            (void)disposition_give_back(signo);
}

int
mask_change(int how, const sigset_t *set, sigset_t *old, mask_function *next)
{
    if (!words_are_there())
        return next(how, set, old);
    nested_settle();
    if (set != NULL && how != SIG_UNBLOCK)
        give_back_named(set);
    uint64_t closed = signals_closed(), ours = signals_borrowed() | closed;
    uint64_t named = set != NULL ? signals_word(set) & ours : 0;
    bool is_plain = (named | signals_blocked) == 0 && signals_are_synced() &&
                    (closed == 0 || (how == SIG_BLOCK && old == NULL));
    if (is_plain || !phase_is_on() || is_mask_real())
        return next(how, set, old);
    signals_sync_now();
    uint64_t before = signals_blocked;
    sigset_t given = {{0}};
    /* SET and OLD may be the same. */
    if (set != NULL)
        given = *set;
    sigset_t changed = given;
    uint64_t after = before;
    if (set != NULL) {
        signals_set_word(&changed, real_word(how, signals_word(&given)));
        after = belief_after(before, how, &given, ours);
    }
    /* A pending signal that is opened comes at once, and must find the word
     * changed. */
    signals_blocked = before & after;
    int result = next(how, set != NULL ? &changed : NULL, old);
    signals_blocked = result == 0 ? after : before;
    if (result != 0)
        return result;
    if (old != NULL)
        signals_set_word(old, (signals_word(old) & ~closed) | before);
    if (how == SIG_SETMASK && set != NULL)
        signals_shut |= closed;
    return 0;
}

void
mask_begin(void)
{
    uint64_t borrowed = signals_borrowed(), closed = signals_closed(), now;
    if (sys_mask(SIG_BLOCK, 0, &now) != 0)
        return;
    uint64_t inherited = now & borrowed;
    /* This may be the child of a fork in a handler that blocks our signals
     * (handlers.h). */
    if (alternate_is_avoided() && alternate_is_on())
        inherited = 0;
    if (signals_shut == 0)
        inherited |= now & closed;
    /* A pending signal comes at once, and must still find the number blocked in
     * the word. */
    signals_blocked |= inherited;
    change_real(SIG_UNBLOCK, inherited & borrowed);
    shut_closed();
}

void
mask_begin_thread(const struct mask_birth *birth)
{
    if (birth->has_mask) {
        mask_begin();
        return;
    }
    signals_blocked = birth->blocked;
    signals_shut = birth->shut;
    change_real(SIG_UNBLOCK, birth->blocked & signals_borrowed());
    signals_sync_now();
}

void
mask_before_exec(void)
{
    int saved = words_errno();
    if (phase_is_on()) {
        bool has_words = words_are_there();
        if (has_words)
            nested_settle();
        bool is_own = has_words ? !is_mask_real() : phase_is_own();
        if (is_own)
            make_mask_real();
        disposition_before_exec(is_own);
    }
    words_set_errno(saved);
}

void
mask_after_failed_exec(void)
{
    int saved = words_errno();
    if (phase_is_on() && phase_is_own()) {
        disposition_after_failed_exec();
        signals_sync_now();
        change_real(SIG_UNBLOCK, believed_blocked() & signals_borrowed());
        shut_closed();
    }
    words_set_errno(saved);
}

void
mask_before_birth(struct mask_birth *birth)
{
    nested_settle();
    stray_note_own_mask();
    signals_sync_now();
    *birth = (struct mask_birth){.blocked = signals_blocked,
                                 .shut = signals_shut,
                                 .has_mask = birth->has_mask};
    change_real(SIG_BLOCK, signals_blocked);
}

void
mask_after_birth(void)
{
    change_real(SIG_UNBLOCK, signals_blocked & signals_borrowed());
    signals_sync_now();
}

/* Give back those of the numbers OPENED that the program handles. The thread
 * blocks them and now waits for them, so it must find them pending. */
static void
give_back_awaited(uint64_t opened)
{
    for (int signo = 1; opened != 0 && signo < NSIG; signo++)
        if ((opened & signals_bit(signo)) != 0 &&
            disposition_has_handler(signo))
            (void)disposition_give_back(signo);
}

const sigset_t *
mask_enter_wait(const sigset_t *set, struct mask_wait *before)
{
    before->has_words = words_are_there();
    if (!before->has_words)
        return set;
    uint64_t closed = phase_is_on() ? signals_closed() : 0;
    bool is_masked = set != NULL && sys_can_read_set(set);
    if (is_masked)
        give_back_awaited(signals_blocked & ~signals_word(set));
    signals_sync_now();
    before->blocked = signals_blocked;
    before->outer = restart_wait;
    if (!is_masked)
        return set;
    if (signals_blocked != 0)
        signals_blocked =
            signals_word(set) & (signals_borrowed() | signals_closed());
    before->set = *set;
    signals_set_word(&before->set, signals_word(set) | closed);
    restart_wait.is_left = false;
    restart_wait.mask = signals_word(&before->set);
    restart_wait.stack = (uint64_t)__builtin_frame_address(0);
    restart_wait.is_on = phase_is_on();
    stray_note_wait(restart_wait.is_on, restart_wait.mask);
    return &before->set;
}

void
mask_leave_wait(const struct mask_wait *before)
{
    if (!before->has_words)
        return;
    restart_wait.is_on = false;
    if (restart_wait.is_left)
        change_real(SIG_SETMASK, restart_wait.original);
    restart_wait = before->outer;
    stray_note_wait(restart_wait.is_on, restart_wait.mask);
    signals_blocked = before->blocked;
}

/* Open the numbers that were borrowed after the thread had blocked them, like
 * the others. */
static void
open_late(void)
{
    uint64_t now;
    if (!words_are_there() || sys_mask(SIG_BLOCK, 0, &now) != 0)
        return;
    uint64_t late = now & signals_borrowed();
    signals_blocked |= late;
    change_real(SIG_UNBLOCK, late);
}

void
mask_take_interest(const sigset_t *set, sigset_t *rest)
{
    uint64_t wanted = signals_word(set);
    uint64_t ours = signals_borrowed() | signals_closed();
    bool is_all = is_nearly_all(set);
    *rest = *set;
    if ((wanted & ours) == 0 || !phase_is_on() || !words_are_there() ||
        is_mask_real())
        return;
    for (int signo = 1; signo < NSIG; signo++)
        if ((wanted & ours & signals_bit(signo)) != 0 &&
            (!is_all || signo == SIGPROF))
            (void)disposition_give_back(signo);
    signals_sync_now();
    open_late();
    signals_set_word(rest, wanted & ~(signals_borrowed() | signals_closed()));
}

void
mask_name_in_handler(const sigset_t *set)
{
    sigset_t unused;
    if (!is_nearly_all(set))
        mask_take_interest(set, &unused);
}

void
mask_end(void)
{
    disposition_end();
    signals_sync_now();
    real_in = 0;
}
