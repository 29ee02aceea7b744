/* SPDX-License-Identifier: MIT */
/*
 * script.h -- the frames of an interpreter's own stack, and their places among
 * the native frames. They are collected first, from the leaf on. The walk then
 * finds the places: each native frame of the interpreter's loop holds, between
 * its sp and its CFA, a record of the frames that it runs. The address of that
 * record is the border.
 *
 *      native frames      frames of the interpreter
 *      memmove
 *      list_extend
 *      loop               f, g       border of g: in this frame of the loop
 *      call_function
 *      loop               <module>   border of <module>
 *      main
 */
#ifndef UNWIND_SCRIPT_H
#define UNWIND_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#define SCRIPT_NO_BORDER UINT64_MAX

struct script_frame {
    uint64_t
        code; /* address of the interpreter's description of the function */
    uint64_t border; /* 0, unless the next frame is of another native frame */
    /* Address of its record (Python), or of its instruction (PHP). */
    uint64_t at;
    /* Offset of its instruction in bytes, negative before the first one. */
    int32_t instruction;
    uint32_t sum;    /* of the description, as it was then; 0: not read */
    uint32_t number; /* of the function (journal/script_names.h); 0: unknown */
    /* The number of native frames up to and including the one that ran it. 0:
     * that frame was not found. */
    uint32_t depth;
    /* Where the copy of its description is in the script's texts, counted from
     * 1. 0: there is none. */
    uint32_t text;
    bool is_generator; /* of Python: its record is part of an object */
};

/* A native frame whose caller the walk has just found. */
struct script_native {
    uint64_t pc;     /* in it */
    uint64_t sp;     /* it reaches from here */
    uint64_t cfa;    /* up to here */
    uint64_t caller; /* its return address */
    uint32_t depth;  /* its number, counted from 1 */
};

/* A task of the program that runs in some thread: the interpreter's record of
 * the task's outermost function, and the address of its name. */
struct script_task {
    uint64_t frame, name;
};

/* Limit of the tasks that are looked for, each in a thread of its own. */
#define SCRIPT_TASKS_MOST 8u

/* Limit of the bytes of a task's name, with a null byte at the end. Longer ones
 * are cut. */
#define SCRIPT_TASK_NAME 64u

/* The lock of an interpreter that lets one thread at a time run. */
struct script_lock {
    pid_t holder;       /* the thread that has it; 0: none */
    bool is_collecting; /* garbage is being collected */
};

/* Limit of the borders without a frame that are kept. */
#define SCRIPT_EMPTIES_MOST 4u

struct script {
    struct script_frame *frames;
    uint32_t capacity, count;
    uint32_t placed;  /* the first frames, whose places are known */
    uint64_t border;  /* of the next frames, or SCRIPT_NO_BORDER */
    uint64_t time;    /* CLOCK_MONOTONIC at the beginning */
    uint8_t *texts;   /* copies of descriptions */
    uint32_t runtime; /* number of the interpreter */
    /* The function of its loop (Python). It matters while IS_OPEN. */
    uint64_t loop_start, loop_end;
    bool is_cut; /* the script has more frames than these */
    /* The borders are no addresses. See interpreter_place. */
    bool is_counted;
    /* The next frame of the loop that the walk meets may run a function that is
     * not among the frames (python_loop.h). */
    bool is_open;
    uint32_t texts_used; /* bytes of the texts */
    /* Borders without a frame, the innermost first. Those beyond the array are
     * only counted. */
    uint64_t empties[SCRIPT_EMPTIES_MOST];
    uint32_t empty;
    /* The thread's state, which it holds, and where it was interrupted. 0: the
     * thread does not wait. */
    uint64_t state;
    const ucontext_t *context;
    uint64_t innermost; /* up to 3.10: the thread's innermost record */
    uint64_t left; /* 3.10: a record whose native frame is just left, or 0 */
    /* A function that may run in the next frame of the loop, kept for a walk
     * for which the thread does not wait. Code 0: none. It ran there if
     * SPARE_BORDER is 0, or near the end of that frame. With SPARE_IS_ONE, only
     * if the frame's caller calls the loop for functions alone. */
    struct script_frame spare;
    uint64_t spare_border;
    bool spare_is_one;
    struct script_task tasks[SCRIPT_TASKS_MOST];
    uint32_t task_count;
    uint32_t met; /* number of the thread's own one, from 1; 0: not found */
    char task[SCRIPT_TASK_NAME]; /* its name; empty: none */
};

/* Make SCRIPT empty at TIME. Its frames and capacity stay. Context: any. */
void script_begin(struct script *script, uint64_t time);

/* Whether PC is in the loop. Context: any. */
static inline bool
script_is_in_loop(const struct script *script, uint64_t pc)
{
    return pc >= script->loop_start && pc < script->loop_end;
}

/* Add a frame, and return it. Returns NULL if the script is full. Context: any.
 */
struct script_frame *script_add(struct script *script, uint64_t code,
                                int32_t instruction);

/* Forget the tasks of another interpreter. Context: any. */
void script_forget_tasks(struct script *script);

/* The walk along the frames has met RECORD. If it belongs to a task, the thread
 * runs that task. Of several the innermost counts. Context: any. */
void script_meet(struct script *script, uint64_t record);

/* The frames that were added last, from number FIRST on, are those of the
 * native frame that holds BORDER. Context: any. */
void script_close(struct script *script, uint32_t first, uint64_t border);

/* BORDER belongs to no frame. Context: any. */
void script_note_empty(struct script *script, uint64_t border);

/* The number of borders without a frame at ADDRESS or above. Context: any. */
uint32_t script_empties_from(const struct script *script, uint64_t address);

/* Begin the search for the places at the first frame. Context: any. */
void script_find_next(struct script *script);

/* The frames from number FIRST on are of another chain. Move them to the front
 * if that chain ends further in: its border is lower. Context: any. */
void script_sort(struct script *script, uint32_t first);

/* Remove the first frame. Context: any. */
void script_drop_first(struct script *script);

/* Put FRAME before the frames that have no place yet. It ran in native frame
 * number DEPTH, counted from 1. Context: any. */
void script_insert(struct script *script, const struct script_frame *frame,
                   uint32_t depth);

/* The next frames, up to a border, ran in native frame number DEPTH, counted
 * from 1. Context: any. */
void script_place_next(struct script *script, uint32_t depth);

/* The native frame number DEPTH, counted from 1, reaches from LOW to HIGH - 1.
 * The frames whose border it holds get their place. Context: any. */
void script_cross(struct script *script, uint64_t low, uint64_t high,
                  uint32_t depth);

/* The walk has gone back to frame number DEPTH: later places are not valid.
 * Context: any. */
void script_go_back(struct script *script, uint32_t depth);

#endif
