/* SPDX-License-Identifier: MIT */
/*
 * code_step_test.c -- the machine itself says whether rows from code are right.
 * A child runs functions of libraries, many of them written in assembly, one
 * instruction at a time (ptrace(2), PTRACE_SINGLESTEP). The test follows its
 * calls and returns. So at each instruction it knows the CFA and the caller's
 * frame pointer, and compares them with the row.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "unwind/code_effect.h"
#include "unwind/code_flow.h"

/* Limits: of the instructions, of the calls in each other, of the functions,
 * and of the bytes of code that are followed. */
#define STEPS 400000u
#define CALLS 256u
#define FUNCTIONS 4096u
#define CODE_MOST (64u << 10)

/* The rows from ENTRY on, with pcs relative to BASE. */
struct function {
    uint64_t entry, base;
    struct code_row *rows;
    uint32_t count; /* 0: nothing is proved */
};

/* A call that has not returned. CFA and FP as at its function's entry. */
struct call {
    const struct function *function;
    uint64_t cfa, fp;
};

static struct function functions[FUNCTIONS];
static unsigned function_count;
static struct call calls[CALLS];
static unsigned depth, compared, proved_calls, wrong;
static unsigned kept, written; /* registers after instructions; wrongly kept */
static pid_t child;
static int memory; /* /proc/self/mem, with the code of both */

/* Loaded before the child begins: both have all code at the same addresses. */
static int (*begin_256)(void *), (*begin_512)(void *);
static int (*digest_256)(void *, const void *, size_t);
static int (*digest_512)(void *, const void *, size_t);
static void (*multiply)(uint64_t *, const uint64_t *, const uint64_t *, long);
static uint64_t (*divide)(uint64_t *, long, const uint64_t *, long, uint64_t);
static unsigned long (*checksum)(unsigned long, const unsigned char *,
                                 unsigned);

static void
load_libraries(void)
{
    void *crypto = dlopen("libcrypto.so.3", RTLD_NOW);
    void *gmp = dlopen("libgmp.so.10", RTLD_NOW);
    void *z = dlopen("libz.so.1", RTLD_NOW);
    if (crypto != NULL) {
        *(void **)&begin_256 = dlsym(crypto, "SHA256_Init");
        *(void **)&digest_256 = dlsym(crypto, "SHA256_Update");
        *(void **)&begin_512 = dlsym(crypto, "SHA512_Init");
        *(void **)&digest_512 = dlsym(crypto, "SHA512_Update");
    }
    if (gmp != NULL) {
        *(void **)&multiply = dlsym(gmp, "__gmpn_mul_n");
        *(void **)&divide = dlsym(gmp, "__gmpn_divrem_1");
    }
    if (z != NULL)
        *(void **)&checksum = dlsym(z, "crc32");
}

static int
compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What the child runs. */
static void
work(void)
{
    static uint64_t a[40], b[40], c[81];
    static char text[2000];
    int numbers[60];
    for (int i = 0; i < 60; i++)
        numbers[i] = i * 7919 % 61;
    qsort(numbers, 60, sizeof(int), compare_numbers);
    snprintf(text, sizeof(text), "%s %.17g %d %ls", "text", 1e300 / 3, 42,
             L"wide");
    (void)strtod(text + 5, NULL);
    memset(text, 'x', sizeof(text) - 1);
    memmove(text + 3, text, 1500);
    (void)(strlen(text) + (strchr(text, 'y') != NULL) + strcspn(text, "abc"));
    volatile double x = 0.7;
    x = sin(x) + exp(x) + pow(x, 1.3) + log(x) + atan2(x, 2) + fmod(100, x);
    if (begin_256 != NULL && begin_512 != NULL) {
        (void)(begin_256(c) && digest_256(c, text, 600));
        (void)(begin_512(c) && digest_512(c, text, 600));
    }
    for (int i = 0; i < 40; i++)
        a[i] = b[i] = 0x9e3779b97f4a7c15u * (unsigned)i + 1;
    for (long i = 1; i <= 40 && multiply != NULL; i += 3)
        multiply(c, a, b, i);
    if (divide != NULL)
        divide(c, 0, a, 40, 1000003);
    if (checksum != NULL)
        checksum(0, (unsigned char *)text, 700);
    if (__builtin_cpu_supports("sse4.2"))
        __asm__ volatile("pcmpistri $0, %%xmm0, %%xmm1" ::: "rcx", "cc");
    free(malloc(100000));
}

static uint64_t
word_at(uint64_t address)
{
    return (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)address, NULL);
}

/* The function that a call or a jump has led to. */
static const struct function *
function_at(uint64_t entry)
{
    static struct code_flow flow;
    for (unsigned i = 0; i < function_count; i++)
        if (functions[i].entry == entry)
            return &functions[i];
    if (function_count == FUNCTIONS)
        return NULL;
    struct function *new = &functions[function_count++];
    static uint8_t code[CODE_MOST];
    *new = (struct function){.entry = entry, .base = entry & ~15ull};
    /* The memory may end within that. */
    ssize_t got = pread(memory, code, sizeof(code), (off_t) new->base);
    if (got <= 0 ||
        !code_flow_read(code, (size_t)got, entry - new->base, true, &flow))
        return new;
    new->rows = malloc(flow.count * sizeof(*new->rows));
    assert_non_null(new->rows);
    memcpy(new->rows, flow.rows, flow.count * sizeof(*new->rows));
    new->count = flow.count;
    return new;
}

static const struct code_row *
row_at(const struct function *function, uint64_t pc)
{
    return function == NULL ? NULL
                            : code_flow_row(function->rows, function->count,
                                            pc - function->base);
}

/* The registers by the numbers that instructions have for them. */
static uint64_t
number(const struct user_regs_struct *regs, unsigned code)
{
    const uint64_t all[] = {regs->rax, regs->rcx, regs->rdx, regs->rbx,
                            regs->rsp, regs->rbp, regs->rsi, regs->rdi,
                            regs->r8,  regs->r9,  regs->r10, regs->r11,
                            regs->r12, regs->r13, regs->r14, regs->r15};
    return all[code];
}

/* The child has gone from FROM to REGS by the instruction at CODE. Whatever
 * that instruction is said not to change must be unchanged. */
static void
compare_registers(const struct user_regs_struct *from, const uint8_t *code,
                  const struct user_regs_struct *regs)
{
    struct code_state state = {0};
    size_t length;
    int64_t target;
    code_effect_enter(&state);
    for (uint16_t i = 0; i < 16; i++)
        if (i != CODE_SP)
            state.registers[i] = (struct code_value){VALUE_ENTRY, i, 0};
    (void)code_effect_step(&state, code, 16, &length, &target);
    for (unsigned i = 0; i < 16; i++) {
        if (!code_state_is_entry(state.registers[i], i))
            continue;
        kept++;
        if (number(from, i) != number(regs, i) && written++ < 10)
            print_message("%#llx writes register %u: %02x %02x %02x %02x\n",
                          from->rip, i, code[0], code[1], code[2], code[3]);
    }
}

static uint64_t
cfa_by(struct rule rule, const struct user_regs_struct *regs)
{
    if (rule_kind(rule) == RULE_LEAF)
        return number(regs, rule_leaf_number(rule)) +
               (uint64_t)rule_leaf_offset(rule);
    switch (rule_cfa(rule)) {
    case RULE_CFA_SP:
        return regs->rsp + (uint64_t)rule_cfa_offset(rule);
    case RULE_CFA_FP:
        return regs->rbp + (uint64_t)rule_cfa_offset(rule);
    case RULE_CFA_FP_DEREF:
        return word_at(regs->rbp + (uint64_t)rule_cfa_offset(rule));
    default:
        return word_at(regs->rsp + rule_deref_slot(rule)) +
               rule_deref_more(rule);
    }
}

static uint64_t
fp_by(struct rule rule, const struct user_regs_struct *regs, uint64_t cfa)
{
    uint64_t offset = (uint64_t)rule_fp_offset(rule);
    if (rule_fp(rule) == RULE_FP_AT_CFA)
        return word_at(cfa + offset);
    return rule_fp(rule) == RULE_FP_AT_FP ? word_at(regs->rbp + offset)
                                          : regs->rbp;
}

/* Compare the row of the instruction at which the child stands. */
static void
compare(const struct user_regs_struct *regs)
{
    const struct call *call = &calls[depth - 1];
    const struct code_row *row = row_at(call->function, regs->rip);
    if (row == NULL)
        return;
    uint64_t cfa = cfa_by(row->rule, regs);
    compared++;
    if (cfa == call->cfa && (rule_fp(row->rule) == RULE_FP_LOST ||
                             fp_by(row->rule, regs, cfa) == call->fp))
        return;
    if (wrong++ < 10)
        print_message("%#llx, function at %#lx: rule %#lx, CFA %#lx is %#lx\n",
                      regs->rip, call->function->entry, row->rule.word,
                      call->cfa, cfa);
}

/* The child has gone from FROM to REGS by STEP. */
static void
follow(const struct user_regs_struct *from, enum code_step step,
       const struct user_regs_struct *regs)
{
    while (depth > 0 && regs->rsp >= calls[depth - 1].cfa)
        depth--;
    bool is_call = step == CODE_CALL && regs->rsp == from->rsp - 8;
    bool is_jump =
        (step == CODE_JUMP || step == CODE_SWITCH || step == CODE_LEAVE) &&
        depth > 0 && regs->rsp == calls[depth - 1].cfa - 8 &&
        row_at(calls[depth - 1].function, regs->rip) == NULL;
    if (is_call && depth < CALLS)
        depth++;
    if ((is_call || is_jump) && depth > 0) {
        calls[depth - 1] =
            (struct call){function_at(regs->rip), regs->rsp + 8, regs->rbp};
        proved_calls += calls[depth - 1].function != NULL &&
                        calls[depth - 1].function->count != 0;
    }
}

static bool
step_on(struct user_regs_struct *regs)
{
    int status;
    return ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
           WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETREGS, child, NULL, regs) == 0;
}

static void
the_machine_says_what_rows_say(void **state)
{
    struct user_regs_struct from, regs;
    struct code_state unused = {0};
    unsigned steps = 0;
    size_t length;
    int64_t target;
    uint8_t code[16];
    int status;

    (void)state;
    assert_int_equal(code_flow_begin(), 0);
    load_libraries();
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    assert_true(memory >= 0);
    child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        work();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        skip();
    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &from), 0);
    for (; steps < STEPS && step_on(&regs); steps++, from = regs) {
        enum code_step step = CODE_ON;
        if (pread(memory, code, sizeof(code), (off_t)from.rip) ==
            sizeof(code)) {
            step =
                code_effect_step(&unused, code, sizeof(code), &length, &target);
            compare_registers(&from, code, &regs);
        }
        follow(&from, step, &regs);
        if (depth > 0)
            compare(&regs);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    print_message("%u steps, %u calls of proved functions, %u rows compared, "
                  "%u wrong; of %u registers left alone %u written\n",
                  steps, proved_calls, compared, wrong, kept, written);
    assert_true(compared > steps / 2);
    assert_int_equal(wrong, 0);
    assert_true(kept > steps);
    assert_int_equal(written, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_says_what_rows_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
