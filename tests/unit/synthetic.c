/* SPDX-License-Identifier: MIT */
/* synthetic.c -- see synthetic.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "process/modules.h"

#include "synthetic.h"

#define HALF (FRAME_STACK_SIZE / 2)

uint8_t *stack;
uint8_t window[VIEW_WINDOW];
struct unwinder unwinder;
unsigned kinds[RULE_NOWHERE + 1];
static uint64_t random_state = 1;

uint64_t
random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 20;
}

/* An address in the upper half of the stack, room for a frame around it. */
static uint64_t
random_address(void)
{
    uint64_t offset = HALF + 65536 + random_number() % (HALF - 131072);

    return (uint64_t)stack + (offset & ~7ull);
}

void
random_registers(uint64_t pc)
{
    for (int i = 0; i < ARCH_REGISTERS; i++)
        unwinder.registers[i] = random_address();
    unwinder.registers[ARCH_SP] =
        (uint64_t)stack + (1u << 20) + random_number() % 65536 * 8;
    unwinder.registers[ARCH_PC] = pc;
}

static void
on_module(const struct module *module, bool gone)
{
    (void)module;
    (void)gone;
}

int
begin_frames(void **state)
{
    (void)state;
    dlopen("libstdc++.so.6", RTLD_NOW);
    stack = mmap(NULL, FRAME_STACK_SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return -1;
    for (uint64_t *word = (uint64_t *)stack;
         word < (uint64_t *)(stack + FRAME_STACK_SIZE); word++)
        *word = random_address();
    return modules_begin(on_module) | modules_refresh() | rules_begin() |
           learn_begin() | unwinder_begin(&unwinder);
}

struct answer
ask_libunwind(void)
{
    struct answer answer = {.result = -1};
    unw_save_loc_t slot;

    if (unwinder_start(&unwinder) != 0)
        return answer;
    answer.result = unw_step(&unwinder.cursor);
    if (answer.result <= 0)
        return answer;
    answer.caller.pc = unwinder_get(&unwinder, UNW_REG_IP);
    answer.caller.sp = unwinder_get(&unwinder, UNW_REG_SP);
    answer.caller.fp = unwinder_get(&unwinder, ARCH_FP);
    if (unw_get_save_loc(&unwinder.cursor, ARCH_RETURN, &slot) == 0)
        answer.slot = slot.u.addr;
    return answer;
}

static void
check_frame(uint64_t pc, const struct answer *answer)
{
    struct frame frames[8];
    struct walk walk = {.capacity = 8, .frames = frames};
    struct view view;
    struct regs regs = {.pc = pc,
                        .sp = unwinder.registers[ARCH_SP],
                        .fp = unwinder.registers[ARCH_FP]};
    struct rule rule = rules_find(pc);
    arch_set_link(&regs, unwinder.registers[ARCH_RETURN]);

    view_begin(&view, (uint64_t)stack, (uint64_t)stack + FRAME_STACK_SIZE,
               (uint64_t)stack, window);
    walk_begin(&walk, &regs);
    /* The caller is no code, and no rule says so yet. */
    enum walk_outcome outcome = walk_run(&walk, &view);
    bool is_slot = rule_is_linked(rule) ||
                   rule_return_slot(rule, walk.regs.sp) == answer->slot;
    /* The table of _dl_runtime_resolve, which is corrected (rule_bits.h). */
    if (ARCH_HAS_LINK && is_slot && walk.regs.sp == answer->caller.sp + 16)
        return;
    if (answer->result <= 0 || outcome != WALK_MISS ||
        walk.regs.pc != answer->caller.pc ||
        walk.regs.sp != answer->caller.sp ||
        walk.regs.fp != answer->caller.fp || !is_slot) {
        const struct module *module = modules_find(pc);
        fail_msg("%s+%#lx: rule %#lx; libunwind %d: pc %#lx %#lx, sp %#lx "
                 "%#lx, fp %#lx %#lx",
                 module->path, pc - module->base, rule.word, answer->result,
                 walk.regs.pc, answer->caller.pc, walk.regs.sp,
                 answer->caller.sp, walk.regs.fp, answer->caller.fp);
    }
}

/* Whether the table of PC's function may say where sp is, as that of longjmp
 * does: DW_CFA_offset, register or expression. libunwind takes the CFA for it.
 */
static bool
may_place_sp(uint64_t pc)
{
    struct fde fde;
    uint32_t length;

    if (!learn_function(pc, &fde))
        return false;
    memcpy(&length, (void *)fde.address, sizeof(length));
    const uint8_t *bytes = (const uint8_t *)fde.address + sizeof(length);
    for (uint32_t i = 0; i + 1 < length; i++)
        if (bytes[i] == (0x80 | ARCH_SP) ||
            (memchr("\x05\x09\x10\x11", bytes[i], 4) != NULL &&
             bytes[i + 1] == ARCH_SP))
            return true;
    return false;
}

void
check_step(uint64_t pc, struct view *view, const struct answer *answer)
{
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};
    struct regs caller = {.pc = 0};
    bool is_root = false;

    memcpy(origin.registers.at, unwinder.registers,
           sizeof(origin.registers.at));
    int result = learn_step(&origin, 0, pc, view, &caller, &is_root);
    /* libunwind refuses a row that saves a vector register. Code without a
     * table it undoes by fp, whatever that is. */
    if (answer->result < 0 || !unwinder.has_table)
        return;
    assert_int_equal(result, 0);
    if (answer->result == 0) {
        assert_true(is_root);
        return;
    }
    assert_false(is_root);
    assert_int_equal(caller.pc, answer->caller.pc);
    if (!may_place_sp(pc))
        assert_int_equal(caller.sp, answer->caller.sp);
    assert_int_equal(caller.fp, answer->caller.fp);
}

static bool
is_entry(uint64_t pc)
{
    const struct module *module = modules_find(pc);

    return module != NULL && module->entry != 0 && pc >= module->entry &&
           pc < module->entry + 256;
}

/* Whether a function with a table begins after PC, in which there is none. */
static bool
is_before_table(uint64_t pc)
{
    unw_proc_info_t info;

    return unwinder_find(unwinder.space, pc, &info, 0, &unwinder) != 0 &&
           unwinder_find(unwinder.space, pc + 1, &info, 0, &unwinder) == 0;
}

enum rule_kind
check_pc(uint64_t pc)
{
    struct rule rule = learn_rule(pc, false);
    struct view view;

    assert_int_equal(rules_find(pc).word, rule.word);
    random_registers(pc);
    struct answer answer = ask_libunwind();
    switch (rule_kind(rule)) {
    case RULE_FRAME:
        /* What the code alone shows libunwind does not know. */
        if (unwinder.has_table || (!ARCH_HAS_LINK && answer.result > 0))
            check_frame(pc, &answer);
        break;
    case RULE_HARD:
        view_begin(&view, 0, 0, 0, window);
        check_step(pc, &view, &answer);
        break;
    case RULE_CHAIN:
        assert_false(unwinder.has_table);
        break;
    case RULE_ROOT:
        assert_true(answer.result == 0 ||
                    ((ARCH_HAS_LINK || !unwinder.has_table) && is_entry(pc)) ||
                    (!unwinder.has_table && is_before_table(pc)));
        break;
    case RULE_SIGNAL:
        /* Where a handler's return address is in a register, libunwind knows
         * the restorer's first instruction alone, and before the step. */
        if (ARCH_HAS_LINK && (unwinder_start(&unwinder) != 0 ||
                              unw_is_signal_frame(&unwinder.cursor) <= 0))
            break;
        assert_true(ARCH_HAS_LINK || unw_is_signal_frame(&unwinder.cursor) > 0);
        answer.slot = rule_return_slot(rule, answer.caller.sp); /* none */
        check_frame(pc, &answer);
        break;
    default:
        fail_msg("%#lx: kind %d", pc, rule_kind(rule));
    }
    kinds[rule_kind(rule)]++;
    return rule_kind(rule);
}
