/* SPDX-License-Identifier: MIT */
/*
 * sprof.h -- libsprof from inside the program that it profiles.
 *
 * A program may call these whether or not the library is preloaded. The symbols
 * are weak: without the library the functions below answer "not running".
 * Nothing needs to be linked. C and C++.
 */
#ifndef SPROF_H
#define SPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Errors. All are harmless: the program goes on as if it had not called.
 */
enum sprof_error {
    SPROF_ERROR_NOT_RUNNING = -1, /* not preloaded, or not sampling */
    SPROF_ERROR_INVALID = -2,     /* NULL, empty, or a control character */
    SPROF_ERROR_TOO_LONG = -3,    /* a text is longer than the limits below */
    SPROF_ERROR_FULL = -4,        /* too many labels, scopes or marks */
    SPROF_ERROR_UNBALANCED = -5,  /* the scope was not the innermost open one */
    SPROF_ERROR_OTHER_THREAD = -6, /* another thread has opened the scope */
    SPROF_ERROR_TIMEOUT = -7,      /* the profiler did not answer in time */
    SPROF_ERROR_FAILED = -8        /* errno says why */
};

/* What ERROR means, in words; "no error" for 0 and more. From anywhere. */
static inline const char *
sprof_error_text(int64_t error)
{
    switch (error) {
    case SPROF_ERROR_NOT_RUNNING:
        return "not running";
    case SPROF_ERROR_INVALID:
        return "a text is missing, empty, or has a control character";
    case SPROF_ERROR_TOO_LONG:
        return "a text is too long";
    case SPROF_ERROR_FULL:
        return "too many labels, scopes or marks";
    case SPROF_ERROR_UNBALANCED:
        return "the scope is not the innermost open one";
    case SPROF_ERROR_OTHER_THREAD:
        return "another thread has opened the scope";
    case SPROF_ERROR_TIMEOUT:
        return "the profiler did not answer in time";
    case SPROF_ERROR_FAILED:
        return "it failed, errno says why";
    default:
        return error < 0 ? "unknown error" : "no error";
    }
}

/* The implementation's entry points; use the functions below. */
extern int sprof_api_is_running(void) __attribute__((weak));
extern const char *sprof_api_version(void) __attribute__((weak));
extern int sprof_api_thread_register(const char *) __attribute__((weak));

/*
 * Whether this process is being sampled now. Returns 1 or 0. May be called from
 * anywhere, also from a signal handler.
 */
static inline int
sprof_is_running(void)
{
    return sprof_api_is_running != 0 ? sprof_api_is_running() : 0;
}

/*
 * The version of the library, "0.1.0", or "" if it is not preloaded. Static;
 * may be called from anywhere.
 */
static inline const char *
sprof_version(void)
{
    return sprof_api_version != 0 ? sprof_api_version() : "";
}

/*
 * Name the calling thread NAME, cut after 15 bytes (prctl(2), PR_SET_NAME; NULL
 * keeps the name it has). With SPROF_THREADS=registered the thread is profiled
 * from now on; threads that did not call this are not. Returns 0, or -1 if this
 * process is not being sampled. May be called again, to change the name; not
 * from a signal handler.
 */
static inline int
sprof_thread_register(const char *name)
{
    return sprof_api_thread_register != 0 ? sprof_api_thread_register(name)
                                          : -1;
}

/*
 * Control
 *
 * These wait some milliseconds for the profiler's own thread. They may be
 * called from any thread and from an atexit function, but not from a signal
 * handler. They return 0 or an enum sprof_error.
 */
extern int sprof_api_start(void) __attribute__((weak));
extern int sprof_api_stop(void) __attribute__((weak));
extern int sprof_api_write(void) __attribute__((weak));

/* Sample from now on. No effect if sampling is on. With SPROF_START=0 this is
 * the beginning. */
static inline int
sprof_start(void)
{
    return sprof_api_start != 0 ? sprof_api_start()
                                : (int)SPROF_ERROR_NOT_RUNNING;
}

/* Stop sampling. No effect if sampling is off. When this returns, no thread is
 * interrupted any more, and the profile is complete up to now. */
static inline int
sprof_stop(void)
{
    return sprof_api_stop != 0 ? sprof_api_stop()
                               : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * Write the profile so far, or with SPROF_KEEP the end of it. The files are
 * those of SPROF_OUTPUT, with ".dump1" (".dump2", ...) before their endings.
 * Sampling goes on. Waits until they are written, which may take seconds.
 * Returns SPROF_ERROR_TIMEOUT after two minutes.
 */
static inline int
sprof_write(void)
{
    return sprof_api_write != 0 ? sprof_api_write()
                                : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * Stacks
 *
 * Threads that wait are looked at without waking them; those that run are
 * interrupted once, for a microsecond. No thread is left out: one without a
 * stack is listed with the reason.
 */
struct sprof_stack {
    int tid;
    const char *name;    /* of the thread */
    char state;          /* 'R' running, 'S' waiting, ...: proc_pid_stat(5) */
    int system_call;     /* that it waits in; -1: none, or not known */
    int64_t cpu_ns;      /* CPU time that it has used; -1: not known */
    const char *missing; /* why there is no stack; NULL if there is one */
    size_t depth;        /* frames */
    const uint64_t *frames; /* the pc of each, the innermost first */
};

extern int sprof_api_stacks_print(int) __attribute__((weak));
extern int sprof_api_stacks_collect(int (*)(const struct sprof_stack *, void *),
                                    void *) __attribute__((weak));

/*
 * Print the stacks of all threads, with names, to the descriptor FD. (`kill
 * -35` prints them on standard error.) Deadlocks come first, and threads with
 * the same stack stand together. Waits until the text is written, which may
 * take seconds when names are read for the first time. Not from a signal
 * handler.
 */
static inline int
sprof_stacks_print(int fd)
{
    return sprof_api_stacks_print != 0 ? sprof_api_stacks_print(fd)
                                       : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * Call VISIT with CONTEXT for the stack of each thread, in no order, on the
 * calling thread and after all were taken. STACK is valid during the call. If
 * VISIT returns anything but 0, the calls end and that is the result. Takes
 * some 10 us a thread, and 0.1 s if a running thread does not answer. Not from
 * a signal handler.
 */
static inline int
sprof_stacks_collect(int (*visit)(const struct sprof_stack *stack,
                                  void *context),
                     void *context)
{
    return sprof_api_stacks_collect != 0
               ? sprof_api_stacks_collect(visit, context)
               : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * Labels
 *
 * A thread has a label, a key with a value, for some time: for example the
 * request that it serves. Each sample carries those that its thread has at that
 * instant, also while it waits. Commands take them as --label KEY=VALUE, and
 * `sprofile report --by label:KEY` sums up by them; in pprof files they are
 * labels.
 *
 *     int64_t scope = sprof_label_begin("request", path);
 *     serve(path);
 *     sprof_label_end(scope);
 *
 * They belong to the calling thread. A new thread begins with none, and a
 * forked child has its parent's. They are kept whether or not the process is
 * sampled at the time. The calls neither lock nor allocate, and only a thread's
 * first one makes a system call. So they may be made anywhere, also in a signal
 * handler, which must end the scopes that it begins. They may be made on
 * threads of the C library only, not on those of a raw clone(2).
 *
 * A key has up to 127 bytes and no '=', and a value has up to 1023. A thread
 * has up to 32 labels and 31 open scopes at a time. A process can use half a
 * million different combinations, in 32 MiB; then new ones are refused. So a
 * key should have some thousands of values, and not a new number each time.
 * Keys with a meaning of their own (thread, tid, state, process, waits_on) are
 * shown as "program.thread" and so on.
 */
#define SPROF_LABEL_KEY_MAX 127
#define SPROF_LABEL_VALUE_MAX 1023
#define SPROF_LABEL_SCOPES_MAX 31

extern int sprof_api_label_set(const char *, const char *)
    __attribute__((weak));
extern int64_t sprof_api_label_begin(const char *, const char *)
    __attribute__((weak));
extern int sprof_api_label_end(int64_t) __attribute__((weak));

/*
 * From now on the calling thread has KEY=VALUE, in place of KEY's old value.
 * VALUE NULL removes KEY. Returns 0, or an enum sprof_error; KEY then has no
 * value, so that no sample shows one that is no longer true.
 */
static inline int
sprof_label_set(const char *key, const char *value)
{
    return sprof_api_label_set != 0 ? sprof_api_label_set(key, value)
                                    : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * The same up to sprof_label_end of what this returns: a scope, > 0. Scopes
 * nest. If it fails, it returns an enum sprof_error, which is < 0, and nothing
 * has changed.
 */
static inline int64_t
sprof_label_begin(const char *key, const char *value)
{
    return sprof_api_label_begin != 0 ? sprof_api_label_begin(key, value)
                                      : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * End SCOPE: the calling thread has the labels again that it had before. This
 * undoes what sprof_label_set did since then. Returns 0, or SCOPE itself if
 * that is an error. Returns SPROF_ERROR_OTHER_THREAD, and changes nothing, if
 * another thread began SCOPE. Returns SPROF_ERROR_UNBALANCED, and changes
 * nothing, if SCOPE has ended already. Returns SPROF_ERROR_UNBALANCED, too, if
 * scopes inside it had not ended; they have ended now.
 */
static inline int
sprof_label_end(int64_t scope)
{
    return sprof_api_label_end != 0 ? sprof_api_label_end(scope)
                                    : (int)SPROF_ERROR_NOT_RUNNING;
}

/*
 * Marks
 *
 * An instant, or a span of time, with a name. They stand on the thread's track
 * in the Firefox Profiler, and `sprofile info` counts them. A mark is kept only
 * while the process is sampled. It costs about two readings of the clock. A
 * name has up to 95 bytes. From anywhere, also in a signal handler.
 */
#define SPROF_MARK_NAME_MAX 95

extern int sprof_api_mark(const char *) __attribute__((weak));
extern int64_t sprof_api_span_begin(void) __attribute__((weak));
extern int sprof_api_span_end(int64_t, const char *) __attribute__((weak));

/* Mark this instant with NAME. Returns 0 or an enum sprof_error. It is
 * SPROF_ERROR_FULL if marks come faster than they can be written; the profile
 * then says how many it lacks. */
static inline int
sprof_mark(const char *name)
{
    return sprof_api_mark != 0 ? sprof_api_mark(name)
                               : (int)SPROF_ERROR_NOT_RUNNING;
}

/* Begin a span. Returns a number > 0 for sprof_span_end, or an enum
 * sprof_error. The library keeps no open spans: they may overlap, end on
 * another thread, or never end. */
static inline int64_t
sprof_span_begin(void)
{
    return sprof_api_span_begin != 0 ? sprof_api_span_begin()
                                     : (int)SPROF_ERROR_NOT_RUNNING;
}

/* End the span SPAN, which gets NAME and belongs to the calling thread. Returns
 * 0, SPAN itself if that is an error, or an enum sprof_error as sprof_mark. */
static inline int
sprof_span_end(int64_t span, const char *name)
{
    return sprof_api_span_end != 0 ? sprof_api_span_end(span, name)
                                   : (int)SPROF_ERROR_NOT_RUNNING;
}

#ifdef __cplusplus
}

/* A label for as long as a block runs: sprof_label_scope scope("phase",
 * "sort");
 */
class sprof_label_scope
{
  public:
    sprof_label_scope(const char *key, const char *value)
        : scope(sprof_label_begin(key, value))
    {
    }
    ~sprof_label_scope()
    {
        sprof_label_end(scope);
    }

  private:
    sprof_label_scope(const sprof_label_scope &);
    sprof_label_scope &operator=(const sprof_label_scope &);
    int64_t scope;
};
#endif

#endif
