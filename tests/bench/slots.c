/* SPDX-License-Identifier: MIT */
/*
 * slots.c -- how many uses of a slot go wrong. Threads call the handler as fast
 * as they can, as if their clocks had expired or the sampler had asked. One
 * thread at a time is the sampler: it harvests, serves and reclaims in a tight
 * loop. Slots are few, so each is used again at once. Some walks park, some are
 * left by a jump, and some are served later than their deadline.
 *
 * Usage: slots USES THREADS. Each use has a number, which the walk puts into
 * every frame. A use is wrong if its frames are not all of one use, or of
 * another thread than the slot says; if it comes twice or never; if it is
 * counted as lost beside its sample; or if its thread sees the limits of two
 * stacks mixed. Prints the counts, and fails if any use was wrong.
 *
 * The walk itself and the rest of the sampler are the linker's wrapped
 * functions below.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/sample.h"
#include "base/words.h"
#include "capture/ask.h"
#include "capture/handler.h"
#include "capture/serve.h"
#include "capture/shared.h"
#include "capture/slot.h"
#include "signals/cookie.h"
#include "signals/signals.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "unwind/walk.h"

#define THREADS_MOST 16u
#define TIDS (1u << 22) /* no kernel has more (proc(5), pid_max) */
#define SLOTS 24u
#define DEPTH 16u

/* One use in so many asks, is left by a jump, or parks. */
#define ASK_EACH 3u
#define JUMP_EACH 4096u
#define PARK_EACH 2048u

/* One round of the sampler, and one serving, in so many is late: it sleeps. */
#define LATE_ROUND (1u << 16)
#define LATE_SERVING 32u
#define LATE_US (PARK_NS / 1000u + 2000u)

/* Reclaims take the time to be so many ns later than it is: each claimed slot
 * is old, and only its mark protects it. */
#define AHEAD_NS 2000000000u

/* A walk begins so far below the thread's control block that no copy of the
 * rest of the stack fits into a slot, in bytes. */
#define STACK_REST (SLOT_COPY + (32u << 10))

/* The pause of a thread that finds another at work as the sampler. */
#define TURN_US 50u

#define PAGE 4096u

struct user {
    pthread_t thread;
    uint32_t index;
    pid_t tid;
    _Atomic uint64_t pointer, sp; /* 0: not known yet */
    uint64_t tries, filled, sum, jumped, jumped_asks, refused, mixed;
    /* The last use found no slot, or the thread's clock must rest: the next is
     * a question. */
    bool is_lost;
};

static struct user users[THREADS_MOST];
static uint64_t uses_each;
static uint32_t threads = 4;
static _Atomic uint32_t index_of_tid[TIDS], running;
static _Atomic uint64_t jumps; /* what was written before a jump is there */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of the sampler */
static signals_handler *handler;
static struct options options;
static struct settings settings = {.options = &options, .period = 1000000};

static __thread struct user *own;
static __thread uint64_t use; /* the number of the present one */
static __thread jmp_buf before_use;

static uint64_t taken, taken_sum, torn, lost[LOSS_COUNT], servings;

bool __wrap_modules_are_current(void);
enum walk_outcome __wrap_walk_run(struct walk *walk, struct view *view);
enum walk_outcome __wrap_resume_run(const struct resume *finish,
                                    struct walk *walk, struct view *view);

bool
__wrap_modules_are_current(void)
{
    return true;
}

/* All pairs of limits that the sampler gives have one sum, so a mixed pair has
 * another. */
static bool
is_mixed(const struct walk *walk)
{
    const struct slot *slot =
        (const struct slot *)((const char *)walk - offsetof(struct slot, walk));
    return slot->low != 0 && slot->low + slot->high != 2 * own->sp;
}

enum walk_outcome
__wrap_walk_run(struct walk *walk, struct view *view)
{
    (void)view;
    own->mixed += is_mixed(walk);
    for (walk->depth = 0; walk->depth < 4 + use % 8; walk->depth++)
        walk->frames[walk->depth] = frame_exact(use);
    if (use % JUMP_EACH == 1)
        longjmp(before_use, 1);
    own->filled++;
    own->sum += use;
    return use % PARK_EACH == 0 ? WALK_MISS : WALK_ROOT;
}

enum walk_outcome
__wrap_resume_run(const struct resume *finish, struct walk *walk,
                  struct view *view)
{
    (void)finish;
    (void)walk;
    (void)view;
    if (++servings % LATE_SERVING == 0)
        usleep(LATE_US);
    return WALK_ROOT;
}

/* sigaction(2) for the library: no signal is ever sent. */
static int
keep_handler(int signo, const struct sigaction *action, struct sigaction *old)
{
    (void)signo;
    if (old != NULL)
        memset(old, 0, sizeof(*old));
    if (action != NULL && (action->sa_flags & SA_SIGINFO) != 0)
        handler = action->sa_sigaction;
    return 0;
}

static void
leaving(enum signals_role role)
{
    (void)role;
}

static bool
request(const siginfo_t *info)
{
    (void)info;
    return false;
}

/* Use the stack again that a handler has left by a jump. */
static __attribute__((noinline)) void
use_stack(void)
{
    volatile uint8_t bytes[8192];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    atomic_fetch_add_explicit(&jumps, 1, memory_order_release);
}

/* The signal of the present use comes. IS_ASKED: the sampler sent it. */
static void
interrupt(ucontext_t *context, bool is_asked)
{
    siginfo_t info;
    uint32_t sequence = (uint32_t)use & COOKIE_MASK;
    memset(&info, 0, sizeof(info));
    info.si_code = is_asked ? COOKIE_CODE : SI_TIMER;
    if (is_asked)
        info.si_pid = getpid();
    info.si_value.sival_ptr =
        (void *)(is_asked ? cookie_make(own->index, sequence)
                          : cookie_make_own(COOKIE_TIMER));
    if (setjmp(before_use) == 0) {
        handler(settings.signo, &info, context);
        own->refused +=
            is_asked && ask_refusal(own->index, sequence) != LOSS_COUNT;
    } else {
        own->jumped++;
        own->jumped_asks += is_asked;
        use_stack();
    }
}

static void
take(struct slot *slot)
{
    uint64_t number = frame_lookup(slot->walk.frames[0]);
    uint64_t index = number >> 40;
    bool is_right =
        index < threads && slot->walk.depth == 4 + number % 8 &&
        (slot->trigger == TRIGGER_ASK
             ? slot->thread == index && slot->sequence == (number & COOKIE_MASK)
             : slot->tid == users[index].tid);
    for (uint32_t i = 0; i < walk_kept(&slot->walk); i++)
        is_right = is_right && frame_lookup(slot->walk.frames[i]) == number;
    torn += !is_right;
    taken++;
    taken_sum += number;
}

static void
harvest(void)
{
    for (uint32_t i = 0; i < slots_used(); i++) {
        struct slot *slot = slots_at(i);
        if (!slot_move(slot, SLOT_DONE, SLOT_TAKEN))
            continue;
        take(slot);
        slot_free(slot);
    }
}

static void
count_lost(void)
{
    uint32_t some[LOSS_COUNT];
    serve_begin_harvest(SLOTS / 2, some);
    for (uint32_t i = 0; i < LOSS_COUNT; i++)
        lost[i] += some[i];
}

/* Tell user I other limits of its stack, around its stack pointer. */
static void
move_stack(uint32_t i, uint64_t round)
{
    struct user *user = &users[i];
    uint64_t sp = atomic_load(&user->sp), reach = (1 + round % 7) * PAGE;
    if (sp != 0)
        ask_set_stack(i, sp - STACK_REST - reach, sp + STACK_REST + reach,
                      atomic_load(&user->pointer));
}

static void
sample_round(uint64_t round)
{
    uint64_t now = clock_now() + AHEAD_NS;
    serve_parked();
    harvest();
    move_stack((uint32_t)round % threads, round);
    (void)atomic_load_explicit(&jumps, memory_order_acquire);
    serve_reclaim(now);
    count_lost();
    if (round % LATE_ROUND == 0)
        usleep(LATE_US);
}

/* Any thread may be the sampler, one at a time: on a busy machine the main
 * thread alone would keep all others waiting. */
static void
sample_in_turn(void)
{
    static uint64_t round;
    if (pthread_mutex_trylock(&turn) != 0) {
        usleep(TURN_US);
        return;
    }
    sample_round(++round);
    pthread_mutex_unlock(&turn);
}

static void *
run(void *argument)
{
    struct user *user = own = argument;
    volatile uint8_t rest[STACK_REST];
    ucontext_t context;
    rest[0] = 0; /* as far from the end of the stack as REST is large */
    (void)rest[0];
    user->tid = gettid();
    handler_know_thread(true);
    atomic_store(&index_of_tid[user->tid], user->index + 1);
    getcontext(&context);
    atomic_store(&user->pointer, arch_thread_pointer());
    atomic_store(&user->sp, arch_register(&context, ARCH_SP));
    while (user->filled + user->jumped < uses_each) {
        uint64_t before = user->filled + user->jumped;
        use = (uint64_t)user->index << 40 | ++user->tries;
        interrupt(&context, user->is_lost || use % ASK_EACH == 0);
        user->is_lost = user->filled + user->jumped == before;
        if (user->is_lost)
            sample_in_turn();
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static bool
begin(void)
{
    const struct handler_options given = {.settings = &settings,
                                          .threads = threads,
                                          .index_of_tid = index_of_tid,
                                          .tid_count = TIDS,
                                          .sigaction = keep_handler,
                                          .next_sigaction = keep_handler,
                                          .leaving = leaving,
                                          .request = request};
    settings.pid = getpid();
    settings.signo = SIGPROF;
    words_begin();
    atomic_store(&running, threads);
    return handler_begin(&given) == 0 && slots_begin(SLOTS, DEPTH) == 0 &&
           rules_begin() == 0;
}

int
main(int argc, char **argv)
{
    struct user all = {0};
    uint64_t uses = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    if (argc > 2)
        threads = (uint32_t)strtoul(argv[2], NULL, 10) % (THREADS_MOST + 1);
    uses_each = uses / threads;
    if (!begin())
        return 1;
    for (uint32_t i = 0; i < threads; i++) {
        users[i].index = i;
        pthread_create(&users[i].thread, NULL, run, &users[i]);
    }
    while (atomic_load(&running) != 0)
        sample_in_turn();
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(users[i].thread, NULL);
        all.tries += users[i].tries;
        all.filled += users[i].filled;
        all.sum += users[i].sum;
        all.jumped += users[i].jumped;
        all.jumped_asks += users[i].jumped_asks;
        all.refused += users[i].refused;
        all.mixed += users[i].mixed;
    }
    for (uint64_t round = 1; round < 4; round++)
        sample_round(round);
    uint64_t full = lost[LOSS_RING_FULL] + lost[LOSS_THROTTLED] + all.refused;
    uint64_t silent = lost[LOSS_SILENT] + all.jumped_asks - all.jumped;
    int64_t missing = (int64_t)(all.filled - taken);
    bool is_whole = taken_sum == all.sum && !serve_has_samples() &&
                    all.tries == all.filled + all.jumped + full;
    printf("uses %" PRIu64 ", taken %" PRIu64 ", lost without a slot %" PRIu64
           ", left by a jump %" PRIu64 ", parked %" PRIu32 "\n",
           all.filled + all.jumped, taken, full, all.jumped,
           atomic_load(&shared.parks));
    printf("wrong: %" PRIu64 " torn, %" PRId64 " missing, %" PRId64
           " lost beside a sample, %" PRIu64 " of two stacks, sums %s\n",
           torn, missing, (int64_t)silent, all.mixed,
           is_whole ? "right" : "wrong");
    return torn != 0 || missing != 0 || silent != 0 || all.mixed != 0 ||
           !is_whole;
}
