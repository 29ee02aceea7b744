/* SPDX-License-Identifier: MIT */
/*
 * program.h -- what the kernel starts for a file, and whether a library of
 * glibc can be preloaded into it: the kind of machine, the dynamic linker
 * (PT_INTERP, elf(5)), the interpreter of a script (execve(2)).
 *
 * errno keeps its value. Context: any.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

enum program {
    PROGRAM_OTHER,   /* nothing speaks against the library */
    PROGRAM_SCRIPT,  /* another program runs it */
    PROGRAM_FOREIGN, /* for another kind of machine */
    PROGRAM_STATIC,  /* has no dynamic linker, or is glibc's own */
    PROGRAM_MUSL,    /* has musl's dynamic linker, or is that */
    PROGRAM_LINKER   /* has another dynamic linker that is not glibc's */
};

/* PROGRAM_SCRIPTS: how many scripts that are run by scripts the kernel follows
 * (execve(2)). PROGRAM_PATH: bytes of an interpreter's path, as much as the
 * kernel reads of a script (BINPRM_BUF_SIZE, Linux 5.1). */
enum { PROGRAM_SCRIPTS = 5, PROGRAM_PATH = 256 };

/* What precedes the absolute path of a library in LD_PRELOAD, so that musl's
 * dynamic linker ignores it. glibc replaces $ORIGIN by the directory of the
 * program (ld.so(8)), and enough ".." lead from there to the root. For musl it
 * is the name of a file that is not there, which it skips without a word
 * (load_preload in ldso/dynlink.c, since 0.9.15). What such a program starts
 * has the library again. */
#define PROGRAM_HIDDEN                                     \
    "$ORIGIN/../../../../../../../../../../../../../../.." \
    "/../../../../../../../../../../../../../../.."

/* Look at the open file FD, which was found at PATH. If it is a script, its
 * interpreter's path is stored in INTERPRETER. */
enum program program_look(int fd, const char *path,
                          char interpreter[PROGRAM_PATH]);

#endif
