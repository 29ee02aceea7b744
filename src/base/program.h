/* SPDX-License-Identifier: MIT */
/*
 * program.h -- what the kernel starts for a file, and whether a library of
 * glibc can be preloaded into it. That depends on the machine, the dynamic
 * linker (PT_INTERP, elf(5)) and the interpreter of a script (execve(2)).
 *
 * errno keeps its value. Context: any.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

enum program {
    PROGRAM_OTHER,   /* the library can be preloaded */
    PROGRAM_SCRIPT,  /* another program runs it */
    PROGRAM_FOREIGN, /* for another kind of machine */
    PROGRAM_STATIC,  /* has no dynamic linker, or is glibc's own */
    PROGRAM_MUSL,    /* has musl's dynamic linker, or is that */
    PROGRAM_LINKER   /* has another dynamic linker that is not glibc's */
};

/* PROGRAM_SCRIPTS: how deep the kernel follows interpreters that are scripts
 * (execve(2)). PROGRAM_PATH: bytes of an interpreter's path, as much as the
 * kernel reads of a script (BINPRM_BUF_SIZE, Linux 5.1). */
enum { PROGRAM_SCRIPTS = 5, PROGRAM_PATH = 256 };

/* The text before the absolute path of a library in LD_PRELOAD that lets musl's
 * dynamic linker ignore it. glibc replaces $ORIGIN by the directory of the
 * program (ld.so(8)), and enough ".." lead from there to the root. musl takes
 * it for the name of a missing file, which it skips silently (load_preload in
 * ldso/dynlink.c, since 0.9.15). Programs that such a program starts have the
 * library again. */
#define PROGRAM_HIDDEN                                     \
    "$ORIGIN/../../../../../../../../../../../../../../.." \
    "/../../../../../../../../../../../../../../.."

/* Look at the open file FD, which was found at PATH. If it is a script, its
 * interpreter's path is stored in INTERPRETER. */
enum program program_look(int fd, const char *path,
                          char interpreter[PROGRAM_PATH]);

#endif
