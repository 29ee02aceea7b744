/* SPDX-License-Identifier: MIT */
/*
 * stack_cause.h -- a table of causes. In a dump of all stacks, a thread may
 * have no stack, or an old one. The table has a row for each cause of that. The
 * numbers of rows are part of the file format, so a new row must be the last.
 */
#ifndef BASE_STACK_CAUSE_H
#define BASE_STACK_CAUSE_H

#define STACK_CAUSE_TABLE(CAUSE)                                               \
    CAUSE(NONE, "complete", "its stack is there")                              \
    CAUSE(SILENT, "silent",                                                    \
          "it could run and did not answer in time: it has no CPU")            \
    CAUSE(KERNEL, "in the kernel", "it cannot be interrupted (state D)")       \
    CAUSE(STOPPED, "stopped", "it is stopped, by a signal or a debugger")      \
    CAUSE(NO_USER, "kernel thread", "it has no stack of its own (io_uring)")   \
    CAUSE(HIDDEN, "hidden", "the kernel does not tell where it waits")         \
    CAUSE(MOVED, "moved", "it was never still long enough to be looked at")    \
    CAUSE(EXITED, "exited", "it ended meanwhile")                              \
    CAUSE(NO_ROOM, "no room", "the spool is full, and its stack is a new one") \
    CAUSE(UNFIT, "unfit", "it is not one of the C library's")                  \
    CAUSE(DEAF, "deaf", "it runs and blocks the signal that asks for it")      \
    CAUSE(TRACED, "traced", "it runs, and its tracer would see the signal")

enum stack_cause {
#define CAUSE(name, word, text) STACK_##name,
    STACK_CAUSE_TABLE(CAUSE)
#undef CAUSE
        STACK_CAUSE_COUNT
};

/* Return the word of a row ("silent"), and the text that explains the row. A
 * number without a row has the word "unknown" and the text "". */
const char *stack_cause_word(unsigned cause);
const char *stack_cause_text(unsigned cause);

#endif
