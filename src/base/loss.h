/* SPDX-License-Identifier: MIT */
/*
 * loss.h -- why a sample was lost or cut short: one table, a name each.
 *
 * LOSS rows are samples that were asked for and never became a sample: asked =
 * taken + the sum of these. CUT rows are samples that exist, but whose stack
 * did not reach its root. The table feeds the counters, the spool, every
 * report and the tests; the numbers are part of the file format, so rows are
 * only ever added at the end of their list.
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
         "the stack is so deep that walking it takes as long as the period") \
    LOSS(UNFIT, "unfit",                                                     \
         "the thread is not one of the C library's, or its signal came "     \
         "when the program had taken the number for itself")

#define CUT_TABLE(CUT)                                                         \
    CUT(NONE, "complete", "the stack reached its root")                        \
    CUT(NO_RULE, "no rule", "no unwind information and no frame pointer")      \
    CUT(BAD_READ, "bad read", "the stack could not be read at some frame")     \
    CUT(STUCK, "stuck", "a frame did not move the stack pointer up")           \
    CUT(DEADLINE, "deadline", "the walk was not finished before the deadline") \
    CUT(NOT_CODE, "not code", "a return address pointed to no code")

enum loss {
#define LOSS(name, word, text) LOSS_##name,
    LOSS_TABLE(LOSS)
#undef LOSS
        LOSS_COUNT
};

enum cut {
#define CUT(name, word, text) CUT_##name,
    CUT_TABLE(CUT)
#undef CUT
        CUT_COUNT
};

/* The word for a row ("ring full"), "unknown" for a number outside it. */
const char *loss_word(unsigned loss);
const char *cut_word(unsigned cut);

/* The sentence that explains a row. */
const char *loss_text(unsigned loss);
const char *cut_text(unsigned cut);

#endif
