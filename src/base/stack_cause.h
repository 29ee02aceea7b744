/* SPDX-License-Identifier: MIT */
/*
 * stack_cause.h -- why a thread has no stack in a dump of all stacks, or an old
 * one: one table, a name each. The numbers are part of the file format, so rows
 * are only ever added at the end.
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

/* The word for a row ("silent"), "unknown" for a number outside it; and the
 * sentence that explains it. */
const char *stack_cause_word(unsigned cause);
const char *stack_cause_text(unsigned cause);

#endif
