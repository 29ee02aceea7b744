/* SPDX-License-Identifier: MIT */
/*
 * loss.h -- four tables of causes: a sample was lost, was not asked for, or has
 * a cut stack; or a thread has no stack. Each row has a name and texts.
 *
 * A LOSS row counts samples that were asked for and not taken:
 * asked = taken + the sum of these rows. A LIMIT row counts sample points that
 * were due at the wanted rate and not asked for: due = asked + the sum of these
 * rows (rate.h). A CUT row counts samples that were taken, and whose stack did
 * not reach its root. The row NONE counts the complete stacks. A STACK row says
 * why a thread has no stack, or an old one, in a dump of all stacks. The
 * counters, the spool, every report and the tests use these tables. The numbers
 * of rows are part of the file format, so a new row must be the last of its
 * table.
 */
#ifndef BASE_LOSS_H
#define BASE_LOSS_H

#define LOSS_TABLE(LOSS)                                                     \
    LOSS(RING_FULL, "ring full", "no slot was free when the signal arrived") \
    LOSS(EXITED, "exited", "the thread ended before it could answer")        \
    LOSS(SILENT, "silent",                                                   \
         "the thread did not answer: it blocks the signal, "                 \
         "is in the kernel, or never ran again")                             \
    LOSS(FORKED, "forked", "a fork or exec ended the wait for the answer")   \
    LOSS(SPOOL_FULL, "spool full",                                           \
         "the spool reached its cap or the disk is full")                    \
    LOSS(QUEUE_FULL, "queue full",                                           \
         "too many signals were queued (RLIMIT_SIGPENDING)")                 \
    LOSS(THROTTLED, "throttled",                                             \
         "a walk of its stack took long, so the thread rests from samples")  \
    LOSS(UNFIT, "unfit",                                                     \
         "the thread is not one of the C library's, or its signal came "     \
         "when the program had taken the number for itself")

/*
 * WORD is the name of the counter. WHY is the text in the line about the rate.
 * If BY_TIMERS is 1, the line has "timers, 250 Hz" before WHY. The frequency is
 * that of the kernel's ticks.
 */
#define LIMIT_TABLE(LIMIT)                                                     \
    LIMIT(                                                                     \
        MERGED, "merged", 0, "points that come together are one sample",       \
        "several points passed within one system call, or while the machine "  \
        "stood still, and are one sample; or the signal was blocked")          \
    LIMIT(KERNEL, "kernel", 1, "for the kernel's time",                        \
          "perf may not see the kernel here, and timers, which sample its "    \
          "time, expire at ticks of the kernel only")                          \
    LIMIT(TIMERS, "timers", 1, "",                                             \
          "a thread's timer expires at ticks of the kernel only")              \
    LIMIT(SWITCHES, "switches", 1, "threads switch too often",                 \
          "threads were switched so often that perf's events would have cost " \
          "too much, and timers expire at ticks of the kernel only")           \
    LIMIT(SAMPLER, "sampler", 0, "the sampler asks what it finds running",     \
          "the sampler asks at its ticks, and not threads that are about to "  \
          "wait again")                                                        \
    LIMIT(BUDGET, "budget", 0, "the sampler keeps to its share of the CPU",    \
          "the sampler asked less often, to stay within its share of the CPU") \
    LIMIT(TRACED, "traced", 0, "traced threads may not be interrupted",        \
          "the threads were traced, and signals would have disturbed them")    \
    LIMIT(SHORT, "short", 0, "threads end before their first sample",          \
          "perf's first sample of a thread comes after a whole period")        \
    LIMIT(EARLY, "early", 0, "processes begin before they can be sampled",     \
          "the thread ran before it could be interrupted, as at the start of " \
          "a process or after a fork")                                         \
    LIMIT(COST, "cost", 0, "what SPROF_COST allows",                           \
          "more samples would have cost the threads more than SPROF_COST")

#define CUT_TABLE(CUT)                                                         \
    CUT(NONE, "complete", "the stack reached its root")                        \
    CUT(NO_RULE, "no rule", "no unwind information and no frame pointer")      \
    CUT(BAD_READ, "bad read", "the stack could not be read at some frame")     \
    CUT(STUCK, "stuck", "a frame did not move the stack pointer up")           \
    CUT(DEADLINE, "deadline", "the walk was not finished before the deadline") \
    CUT(NOT_CODE, "not code", "a return address pointed to no code")           \
    CUT(OLD_MAP, "old map",                                                    \
        "libraries came or went: what code lay there is not known")

#define STACK_CAUSE_TABLE(CAUSE)                                               \
    CAUSE(NONE, "complete", "its stack is there")                              \
    CAUSE(SILENT, "silent",                                                    \
          "it could run and did not answer in time: it has no CPU")            \
    CAUSE(KERNEL, "in the kernel", "it cannot be interrupted (state D)")       \
    CAUSE(STOPPED, "stopped", "it is stopped, by a signal or a debugger")      \
    CAUSE(NO_USER, "kernel thread", "it has no stack of its own (io_uring)")   \
    CAUSE(HIDDEN, "hidden", "the kernel does not show where it waits")         \
    CAUSE(MOVED, "moved", "it was never still long enough to be looked at")    \
    CAUSE(EXITED, "exited", "it ended meanwhile")                              \
    CAUSE(NO_ROOM, "no room", "the spool is full, and its stack is a new one") \
    CAUSE(UNFIT, "unfit", "it is not one of the C library's")                  \
    CAUSE(DEAF, "deaf", "it runs and blocks the signal that asks for it")      \
    CAUSE(TRACED, "traced", "it runs, and its tracer would see the signal")

enum loss {
#define LOSS(name, word, text) LOSS_##name,
    LOSS_TABLE(LOSS)
#undef LOSS
        LOSS_COUNT
};

enum limit {
#define LIMIT(name, word, by_timers, why, text) LIMIT_##name,
    LIMIT_TABLE(LIMIT)
#undef LIMIT
        LIMIT_COUNT
};

enum cut {
#define CUT(name, word, text) CUT_##name,
    CUT_TABLE(CUT)
#undef CUT
        CUT_COUNT
};

enum stack_cause {
#define CAUSE(name, word, text) STACK_##name,
    STACK_CAUSE_TABLE(CAUSE)
#undef CAUSE
        STACK_CAUSE_COUNT
};

/* Return the word of a row ("ring full"). It is "unknown" for a number that has
 * no row. */
const char *loss_word(unsigned loss);
const char *limit_word(unsigned limit);
const char *cut_word(unsigned cut);
const char *stack_cause_word(unsigned cause);

/* Return the text that explains a row. */
const char *loss_text(unsigned loss);
const char *limit_text(unsigned limit);
const char *cut_text(unsigned cut);
const char *stack_cause_text(unsigned cause);

#endif
