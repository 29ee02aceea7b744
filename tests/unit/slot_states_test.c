/* SPDX-License-Identifier: MIT */
/*
 * slot_states_test.c -- every order in which two handlers, the sampler and the
 * clock can act on the slots. The code is the library's own: slot.c, fill.c,
 * serve.c and nested.c are part of this file, and before each access to a word
 * that threads share they come to step() below. There another one of the four
 * goes on. Memory is taken to be sequentially consistent; ThreadSanitizer looks
 * at the rest (tests/bench/slots.c).
 *
 * An order is a list of choices. It is run from the beginning, and then again
 * with another choice at the last place where one is left. A state that was
 * seen before is not followed again: what follows depends on the shared words,
 * and on what each of the four has read so far.
 *
 * Asserted in each order: a slot has one owner at most, and moves only as the
 * table of slot.h says. It is not taken from a handler that may come back to
 * it. Each handler ends within STEPS_MOST steps. At the end all slots are free,
 * and each sample was taken or is counted as lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/sample.h"
#include "base/scheduling.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "capture/ask.h"
#include "capture/fill.h"
#include "capture/serve.h"
#include "capture/shared.h"
#include "capture/slot.h"
#include "process/modules.h"
#include "process/unloads.h"
#include "signals/alternate.h"
#include "signals/nested.h"
#include "signals/signals.h"
#include "unwind/heap_view.h"
#include "unwind/interpreter.h"
#include "unwind/learn.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "unwind/script.h"
#include "unwind/trace_context.h"
#include "unwind/walk.h"

#define HANDLERS 2u
enum { SAMPLER = HANDLERS, CLOCK, ACTORS };
#define NOBODY ACTORS

#define SLOTS_MOST 2u
#define STACK_SIZE (64u << 10)
#define ROUNDS 2u         /* of the sampler, beside the handlers */
#define STEPS_MOST 40u    /* of a handler */
#define CHOICES_MOST 256u /* in an order */
#define DEPTH 16u
#define SEEN (1u << 21) /* places for states that were seen */

#define START 1000000000000u /* CLOCK_MONOTONIC when an order begins, in ns */

/* What a handler does with its sample. */
enum kind { WALKS, PARKS, JUMPS, JUMPS_PARKED, KINDS };

struct actor {
    ucontext_t start;
    jmp_buf at;
    bool is_begun, has_ended, has_jumped;
    unsigned steps;
    uint64_t seen; /* hash of what it has read so far */
    /* It waits for a futex. word NULL: it does not. */
    _Atomic uint32_t *word;
    uint32_t value;
    uint64_t until;
};

static struct actor actors[ACTORS + 1]; /* the last is NOBODY */
static uint8_t stacks[ACTORS][STACK_SIZE] __attribute__((aligned(64)));
static enum kind kinds[HANDLERS];
static unsigned running; /* the actor that runs, or NOBODY */
static jmp_buf chooser;
static ucontext_t chooser_context, interrupted;
static uint64_t instant;
static uint32_t slots_each;
static unsigned owners[SLOTS_MOST]; /* a handler, or NOBODY */
static unsigned taken, refused, emptied;
static bool empties, is_emptying; /* all slots, between two rounds */
static bool keeps_turn;           /* nobody else goes on before this is over */
static uint32_t parks_served;     /* serve_parked has seen so many parks */
static uint64_t seen_states[SEEN];
static unsigned seen_count, orders; /* orders that came to an end */

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* The actor that runs is about to do something to WORD. Another may go on
 * first. */
static void
step(const volatile void *word)
{
    struct actor *actor = &actors[running];
    if (running == NOBODY || keeps_turn)
        return;
    actor->steps++;
    actor->seen = mix(actor->seen, (uint64_t)word);
    assert_true(running >= HANDLERS || actor->steps < STEPS_MOST);
    if (_setjmp(actor->at) == 0)
        _longjmp(chooser, 1);
}

static uint64_t
saw(const volatile void *word, uint64_t value)
{
    if (word == (const volatile void *)&shared.parks)
        parks_served = (uint32_t)value;
    if (running != NOBODY)
        actors[running].seen = mix(actors[running].seen, value);
    return value;
}

/* Whether others use WORD: the state or the mark of a slot, a mark that a slot
 * names, or the number of parks. */
static bool
is_shared(const volatile void *word)
{
    for (uint32_t i = 0; i < slots_all(); i++)
        if (word == (const volatile void *)&slots_at(i)->state ||
            word == (const volatile void *)&slots_at(i)->mark ||
            (uint64_t)word == slots_at(i)->mark)
            return true;
    return word == (const volatile void *)&shared.parks;
}

static void
step_if_shared(const volatile void *word)
{
    if (is_shared(word))
        step(word);
}

/* The moves of the table in slot.h: who may make each, and who owns the slot
 * after it. The sampler takes a slot from its owner only after a jump. */
static void
check_move(uint32_t i, uint32_t from, uint32_t to)
{
    bool is_own = running < HANDLERS && owners[i] == running;
    bool is_sampler = running == SAMPLER || running == NOBODY;
    bool is_left = owners[i] == NOBODY || actors[owners[i]].has_jumped;
    assert_true((to & ~SLOT_STATES) ==
                (from & ~SLOT_STATES) +
                    (slot_state(to) == SLOT_FREE ? SLOT_STATES + 1 : 0));
    switch (slot_state(from) << 4 | slot_state(to)) {
    case SLOT_FREE << 4 | SLOT_CLAIMED:
        assert_true(running < HANDLERS && owners[i] == NOBODY);
        owners[i] = running;
        break;
    case SLOT_CLAIMED << 4 | SLOT_DONE:
    case SLOT_SERVING << 4 | SLOT_LEFT:
        assert_true(is_own);
        owners[i] = NOBODY;
        break;
    case SLOT_CLAIMED << 4 | SLOT_PARKED:
    case SLOT_PARKED << 4 | SLOT_CLAIMED:
    case SLOT_SERVED << 4 | SLOT_CLAIMED:
        assert_true(is_own);
        break;
    case SLOT_PARKED << 4 | SLOT_SERVING:
    case SLOT_SERVING << 4 | SLOT_SERVED:
        assert_true(is_sampler);
        break;
    case SLOT_CLAIMED << 4 | SLOT_TAKEN:
    case SLOT_SERVED << 4 | SLOT_TAKEN:
        assert_true(owners[i] != NOBODY);
        assert_true(is_sampler && is_left);
        owners[i] = NOBODY;
        break;
    case SLOT_LEFT << 4 | SLOT_DONE:
    case SLOT_DONE << 4 | SLOT_TAKEN:
    case SLOT_TAKEN << 4 | SLOT_FREE:
        assert_true(is_sampler && owners[i] == NOBODY);
        break;
    default:
        if (is_emptying) {
            emptied++;
            owners[i] = NOBODY;
            break;
        }
        fail_msg("slot %u: from state %u to %u", i, slot_state(from),
                 slot_state(to));
    }
}

/* WORD changes from FROM to TO. */
static void
note_change(const volatile void *word, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < slots_all(); i++)
        if (word == (const volatile void *)&slots_at(i)->state)
            check_move(i, (uint32_t)from, (uint32_t)to);
}

static uint64_t
model_clock(void)
{
    step(&instant);
    return saw(&instant, instant);
}

/* The actor that runs is at PLACE, where it uses nothing more of what it has
 * read. Only the steps of a handler are counted on, which must be few. */
static void
forget(unsigned place)
{
    actors[running].seen = place;
    if (running >= HANDLERS)
        actors[running].steps = 0;
}

/* The thread leaves its handler by a jump, or it ends. Then its stack is used
 * for something else. */
static void
leave(void)
{
    struct actor *actor = &actors[running];
    uint64_t *mark = NULL;
    for (uint32_t i = 0; i < slots_all(); i++)
        if (owners[i] == running)
            mark = (uint64_t *)__atomic_load_n((uint64_t *)&slots_at(i)->mark,
                                               __ATOMIC_RELAXED);
    actor->has_jumped = true;
    actor->word = NULL;
    step(mark);
    *mark = 0;
    actor->has_ended = true;
    _longjmp(chooser, 1);
}

static long
model_wait(_Atomic uint32_t *word, uint32_t value, uint64_t until)
{
    struct actor *actor = &actors[running];
    actor->word = word;
    actor->value = value;
    actor->until = until;
    if (kinds[running] == JUMPS_PARKED)
        leave();
    step(word);
    actor->word = NULL;
    forget(0);
    return 0;
}

static bool
model_copy(uint64_t *to, uint64_t address)
{
    step((const void *)address);
    *to = saw(NULL, *(const uint64_t *)address);
    return true;
}

static bool
is_walkable(void)
{
    keeps_turn = false;
    return running >= HANDLERS || kinds[running] == WALKS ||
           kinds[running] == JUMPS;
}

static enum walk_outcome
model_walk(void)
{
    if (kinds[running] == JUMPS)
        leave();
    return WALK_ROOT;
}

/* The accesses of the code below, each after a step. One thread makes all of
 * them. */
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_thread_fence
#define atomic_thread_fence(order) ((void)0)
#define atomic_load_explicit(word, order)        \
    ({                                           \
        __auto_type at_ = (word);                \
        step_if_shared(at_);                     \
        __typeof__((void)0, *at_) value_ = *at_; \
        saw(at_, (uint64_t)value_);              \
        value_;                                  \
    })
#define atomic_load(word) atomic_load_explicit(word, 0)
#define atomic_store_explicit(word, value, order)         \
    do {                                                  \
        __auto_type at_ = (word);                         \
        __typeof__((void)0, *at_) new_ = (value);         \
        step_if_shared(at_);                              \
        __typeof__((void)0, *at_) old_ = *at_;            \
        note_change(at_, (uint64_t)old_, (uint64_t)new_); \
        *at_ = new_;                                      \
    } while (0)
#define atomic_store(word, value) atomic_store_explicit(word, value, 0)
#define atomic_fetch_add_explicit(word, more, order) \
    ({                                               \
        __auto_type add_ = (word);                   \
        step_if_shared(add_);                        \
        __typeof__((void)0, *add_) sum_ = *add_;     \
        *add_ = sum_ + (more);                       \
        sum_;                                        \
    })
#define atomic_compare_exchange_strong_explicit(word, expected, value, a, b) \
    ({                                                                       \
        __auto_type at_ = (word);                                            \
        __typeof__((void)0, *at_) new_ = (value), old_ = *(expected);        \
        step_if_shared(at_);                                                 \
        bool is_done_ = *at_ == old_;                                        \
        if (is_done_) {                                                      \
            note_change(at_, (uint64_t)old_, (uint64_t)new_);                \
            *at_ = new_;                                                     \
        } else {                                                             \
            *(expected) = *at_;                                              \
        }                                                                    \
        saw(NULL, is_done_);                                                 \
        is_done_;                                                            \
    })

/* What lies around the states. A walk by rules ends at once, or is missing one;
 * no stack can be copied; and the sampler finishes each walk. */
#define clock_now() model_clock()
#define sys_futex_wait(word, value, until) model_wait(word, value, until)
#define sys_futex_wake(word, count) ((void)0)
#define sys_copy_memory(to, address, length) \
    model_copy((uint64_t *)(to), address)
#define sys_read_memory(to, address, length) (-1L)
#define sys_present(address, length) ((uint64_t)0)
#define modules_are_current() is_walkable()
#define walk_run(walk, view) model_walk()
#define resume_run(finish, walk, view) \
    ((void)(finish), (void)(walk), (void)(view), WALK_ROOT)
#define thread_local_label_of(tid) 0u
#define arch_is_at_call(pc) false
#define rules_fetch_rest(pc) ((void)0)
#define scheduling_hurry() ((void)0)
#define ask_ring() forget(1)

/* clang-format off */
#include "capture/slot.c"
#include "signals/nested.c"
#include "capture/fill.c"
#include "capture/serve.c"
/* clang-format on */

static void
run_handler(void)
{
    /* No handler of the program runs, and forks, before the mark is there. */
    keeps_turn = empties;
    struct slot *slot = slots_claim(0);
    if (slot == NULL) {
        keeps_turn = false;
        refused++;
        return;
    }
    slot->thread = SLOT_NO_THREAD;
    slot->time = clock_now();
    fill_slot(slot, TRIGGER_TIMER, false, &interrupted);
}

/* Round I, as in session_tick. */
static void
run_round(unsigned i)
{
    forget(3 * i);
    uint64_t seen = clock_now();
    serve_parked();
    forget((unsigned)(seen - START) + 3 * i + 1);
    for (uint32_t at = 0; at < slots_used(); at++)
        if (slot_move(slots_at(at), SLOT_DONE, SLOT_TAKEN)) {
            taken++;
            slot_free(slots_at(at));
        }
    forget((unsigned)(seen - START) + 3 * i + 2);
    serve_reclaim(seen);
}

/* As in the child of a fork: a handler of the program, on top of ours, may have
 * forked. Then ours goes on with a slot that is not its own any more. */
static void
empty_all(void)
{
    is_emptying = keeps_turn = true;
    slots_begin(slots_each, DEPTH);
    is_emptying = keeps_turn = false;
}

static void
run_actor(void)
{
    if (running < HANDLERS)
        run_handler();
    for (unsigned i = 0; running == SAMPLER && i < ROUNDS; i++) {
        run_round(i);
        if (empties && i == 0)
            empty_all();
    }
    if (running == CLOCK) {
        step(&instant);
        instant += PARK_NS;
        step(&instant);
        instant += LONG_NS;
    }
    actors[running].has_ended = true;
    _longjmp(chooser, 1);
}

static bool
can_run(const struct actor *actor)
{
    return !actor->has_ended &&
           (actor->word == NULL || *actor->word != actor->value ||
            instant >= actor->until);
}

/* The actors that can go on, as bits. If all wait, time passes. */
static unsigned
list_ready(void)
{
    unsigned ready = 0;
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < ACTORS; i++) {
        ready |= (unsigned)can_run(&actors[i]) << i;
        if (!actors[i].has_ended && actors[i].word != NULL &&
            actors[i].until < next)
            next = actors[i].until;
    }
    if (ready != 0 || next == UINT64_MAX)
        return ready;
    instant = next;
    return list_ready();
}

/* Let actor I go on to its next step. */
static void
let_run(unsigned i)
{
    running = i;
    if (_setjmp(chooser) == 0) {
        if (actors[i].is_begun)
            _longjmp(actors[i].at, 1);
        actors[i].is_begun = true;
        setcontext(&actors[i].start);
    }
    running = NOBODY;
}

static uint64_t
hash_state(void)
{
    uint64_t hash = mix(instant, taken << 16 | refused << 8 | emptied);
    for (uint32_t i = 0; i < slots_each; i++) {
        const struct slot *slot = slots_at(i);
        hash = mix(hash, slot->state);
        hash = mix(hash, slot->mark);
        hash = mix(hash, slot->mark != 0 ? *(uint64_t *)slot->mark : 0);
        hash = mix(hash, slot->entered);
        hash = mix(hash, owners[i]);
    }
    hash = mix(hash, shared.own_lost[LOSS_SILENT]);
    hash = mix(hash, shared.parks - parks_served);
    hash = mix(hash, used);
    for (unsigned i = 0; i < ACTORS; i++) {
        const struct actor *actor = &actors[i];
        if (!actor->has_ended)
            hash = mix(mix(hash, actor->seen), actor->steps);
        hash = mix(hash, actor->has_jumped << 1 | actor->has_ended);
    }
    return hash | 1;
}

/* Whether STATE is new. */
static bool
note_state(uint64_t state)
{
    uint64_t at = state % SEEN;
    for (; seen_states[at] != 0; at = (at + 1) % SEEN)
        if (seen_states[at] == state)
            return false;
    assert_true(++seen_count < SEEN / 4 * 3);
    seen_states[at] = state;
    return true;
}

static void
begin_order(void)
{
    uint32_t lost[LOSS_COUNT];
    assert_int_equal(running, NOBODY);
    for (uint32_t i = 0; i < slots_all(); i++) {
        owners[i] = NOBODY;
        slots_at(i)->mark = 0;
        slots_at(i)->state = SLOT_FREE;
    }
    used = shared.parks = 0;
    serve_parked(); /* it forgets the parks of before */
    serve_begin_harvest(0, lost);
    instant = START;
    taken = refused = emptied = 0;
    is_emptying = false;
    memset(actors, 0, sizeof(actors));
    for (unsigned i = 0; i < ACTORS; i++) {
        getcontext(&actors[i].start);
        actors[i].start.uc_stack.ss_sp = stacks[i];
        actors[i].start.uc_stack.ss_size = STACK_SIZE;
        actors[i].start.uc_link = &chooser_context;
        makecontext(&actors[i].start, run_actor, 0);
    }
}

/* All have ended. The sampler alone goes on. */
static void
end_order(void)
{
    unsigned jumps = 0, lost;
    for (unsigned i = 0; i < HANDLERS; i++)
        jumps += actors[i].has_jumped;
    instant += 2 * LONG_NS;
    run_round(ROUNDS);
    for (uint32_t i = 0; i < slots_all(); i++)
        assert_int_equal(slot_state(slots_at(i)->state), SLOT_FREE);
    lost = shared.own_lost[LOSS_SILENT];
    assert_int_equal(lost, jumps);
    assert_int_equal(taken + refused + emptied + lost, HANDLERS);
    orders++;
}

/* Run the order of the first COUNT choices, and go on with the first choice of
 * each state that is new. Returns the number of choices then; UNTRIED becomes
 * those that are left, at each place from COUNT on. */
static unsigned
run_order(unsigned *choices, unsigned *untried, unsigned count)
{
    unsigned ready, at = 0;
    begin_order();
    while ((ready = list_ready()) != 0) {
        assert_true(at < CHOICES_MOST);
        if (at >= count) {
            if (!note_state(hash_state()))
                return at;
            choices[at] = (unsigned)__builtin_ctz(ready);
            untried[at] = ready & (ready - 1);
        }
        assert_true((ready >> choices[at] & 1) != 0);
        let_run(choices[at++]);
    }
    end_order();
    return at;
}

static void
run_all_orders(void)
{
    static unsigned choices[CHOICES_MOST], untried[CHOICES_MOST];
    unsigned count = run_order(choices, untried, 0);
    while (count != 0) {
        unsigned last = count - 1;
        if (untried[last] == 0) {
            count--;
            continue;
        }
        choices[last] = (unsigned)__builtin_ctz(untried[last]);
        untried[last] &= untried[last] - 1;
        count = run_order(choices, untried, count);
    }
}

/* All orders of a handler of kind FIRST and one of kind SECOND. */
static void
run_kinds(enum kind first, enum kind second)
{
    kinds[0] = first;
    kinds[1] = second;
    memset(seen_states, 0, sizeof(seen_states));
    seen_count = orders = 0;
    run_all_orders();
    print_message("handlers %u and %u: %u states, %u ends\n", first, second,
                  seen_count, orders);
    assert_true(orders > 1);
}

static void
each_order_is_right(void **state)
{
    (void)state;
    empties = false;
    /* The handlers begin alike. */
    for (unsigned second = 0; second < KINDS; second++)
        for (unsigned first = 0; first <= second; first++)
            run_kinds((enum kind)first, (enum kind)second);
}

static void
each_order_is_right_where_slots_are_emptied(void **state)
{
    (void)state;
    empties = true;
    run_kinds(WALKS, WALKS);
    run_kinds(WALKS, PARKS);
}

/* With one slot, the second handler gets that of the first. */
static int
begin(void **state)
{
    (void)state;
    running = NOBODY;
    slots_each = 1;
    getcontext(&interrupted);
    return slots_begin(slots_each, DEPTH);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_order_is_right),
        cmocka_unit_test(each_order_is_right_where_slots_are_emptied),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
