/* SPDX-License-Identifier: MIT */
/*
 * note.h -- one-line messages to the program's stderr. Each is one write(2) and
 * begins with "sprof: ". Only messages that SPROF_LOG allows are written.
 * Descriptor 2 must still be the file that it was at the start: a program may
 * have closed it and opened its data there.
 */
#ifndef BASE_NOTE_H
#define BASE_NOTE_H

#include <stdbool.h>

enum note_level { NOTE_QUIET, NOTE_ERROR, NOTE_INFO, NOTE_DEBUG };

/* Remember which file descriptor 2 is. Called before all other functions. */
void note_begin(void);
void note_set_level(enum note_level level);
bool note_is_on(enum note_level level);

/* Whether stderr is a terminal (and still what it was). */
bool note_is_terminal(void);

/* Write PARTS, ending with NULL, as one line. errno is kept. Context: any. */
void note(enum note_level level, const char *part, ...)
    __attribute__((sentinel));

/* The words for an errno ("No space left on device"); static, any context. */
const char *note_errno(int error);

#endif
