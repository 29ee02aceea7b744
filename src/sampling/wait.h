/* SPDX-License-Identifier: MIT */
/*
 * wait.h -- records the waits of threads. A wait is one record, however long it
 * takes. The record is written when the thread is first seen waiting, with the
 * stack that is found without waking it. It stays open while the thread does
 * not run, and is closed when the thread has run.
 * Context: sampler.
 */
#ifndef SAMPLING_WAIT_H
#define SAMPLING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/journal.h"
#include "process/look.h"
#include "unwind/walk.h"

/* Reserve what stacks of MAX_DEPTH frames need. Returns 0, or -1. */
int wait_begin(uint32_t max_depth);

/* look_at, in which a wait for an interpreter's lock has the number SYSCALL_GIL
 * (store/layout.h). */
void wait_look_at(pid_t tid, struct look *look);

/* Walk the stack of thread TID into WALK (peek_stack). The thread waits as LOOK
 * says, since its CPU clock read CLOCK. Returns false if the thread moved
 * meanwhile. */
bool wait_look(pid_t tid, const struct look *look, uint64_t clock,
               struct walk *walk);

/* The thread for which thread TID waits as LOOK says: it has a lock, or is to
 * end. 0: not known, or of another process. */
pid_t wait_owner(pid_t tid, const struct look *look);

/* Returns the number of the words for what thread TID waits for (journal_text),
 * or 0 without such words. */
uint32_t wait_words(pid_t tid, const struct look *look);

/* Find the place where thread INDEX has waited since its CPU clock read CLOCK.
 * It waits as LOOK says. Returns false if the thread has gone on before its
 * stack was copied: its place is then not known. */
bool wait_place(uint32_t index, const struct look *look, uint64_t clock,
                struct journal_place *place);

/* The same where it is in line for a CPU at AT. */
bool wait_place_in_line(uint32_t index, const struct regs *at, uint64_t clock,
                        struct journal_place *place);

/* Open a record for thread INDEX, which waits at NOW, at PLACE, as LOOK says.
 * At first the record stands for the rest of wall time in its thread time. */
void wait_open(uint32_t index, const struct look *look,
               const struct journal_place *place, uint64_t now);

/* Close the wait of thread INDEX, if it has one, at END. */
void wait_close(uint32_t index, uint64_t end);

#endif
