/* SPDX-License-Identifier: MIT */
/*
 * words.c -- the words of reports, each with its meaning. Causes of losses come
 * from the tables that also count them (base/loss.h), so that none is missing.
 * The manual page has the other words, too.
 */
#include <string.h>

#include "base/loss.h"
#include "show/truncate.h"
#include "show/wrap.h"
#include "command.h"

/* The column in which meanings begin, and the width of a line. */
enum { MEANING = 17, WIDTH = 79 };

struct word {
    const char *word, *meaning;
};

static const struct word times[] = {
    {"cpu", "time on a CPU, in user code and in the kernel"},
    {"wall", "all time, on a CPU or not: each thread has a second of it each "
             "second"},
    {"flat", "time in the function itself"},
    {"cum",
     "time while the function was on the stack, with all that it called; "
     "a recursion counts once"},
    {"running", "the thread was on a CPU"},
    {"runnable", "the thread could have run, and waited for a CPU"},
    {"waiting", "the thread slept in a system call; \"futex\", \"read\" and so "
                "on are the call"},
    {"gpu", "the thread slept below a function that waits for a GPU, such as "
            "cudaStreamSynchronize"},
    {"gpu, spinning", "it was on a CPU there: that CPU time is a wait, too"},
};

static const struct word samples[] = {
    {"point", "an instant at which a thread is due for a sample, by its own "
              "CPU time while it runs; the rate is how many come in a second"},
    {"due", "the points of running threads: each is taken, lost or not asked"},
    {"asked", "points at which a thread was interrupted for its stack"},
    {"taken", "asked, and the stack is in the profile"},
    {"lost", "asked, but there is no stack; the causes stand beside it"},
    {"not asked", "due, but the thread was not interrupted; the causes stand "
                  "beside it"},
    {"sample", "a stack with the times that it stands for; in heads, that of a "
               "running thread"},
    {"look at waits", "a point at which a thread did not run; its stack stands "
                      "for the whole wait"},
    {"±", "the error of the number before it, with a confidence of 95 %; "
          "rows of fewer than 5 samples are dim"},
    {"rate", "the samples that running threads had in a second of CPU time"},
    {"cut", "a stack that ends before its root, with [truncated] there; the "
            "causes stand beside it"},
    {"parked",
     "the thread stood still until its stack was read, because the rules "
     "for a function on it were not known yet"},
    {"kept", "a waiting thread had not run since its last sample, so its stack "
             "was still the same"},
    {"peeked", "a waiting thread's stack was read from its memory, without a "
               "signal"},
    {"unsure", "peeked, and the thread ran meanwhile"},
    {"unseen", "CPU time that the kernel counts for the recorded processes and "
               "none of them reports: after the last look at each, while "
               "sampling was off, or in programs without the library"},
    {"cost", "what profiling took: CPU time of the sampler, and time in which "
             "threads were stopped. The CPU time is in percent of that of the "
             "processes. If they used less than 5 % of a CPU, it is in percent "
             "of the time that passed"},
};

static const struct word names[] = {
    {"[not sampled]",
     "CPU time that a thread's clock counted and no sample stands for: "
     "the sums contain it, and where it passed is not known"},
    {"[no stack]", "a sample of which nothing but the thread is known"},
    {"[truncated]", "a stack was cut: its callers are missing"},
    {"[frames elided]", "the stack was deeper than SPROF_MAX_DEPTH, and the "
                        "middle is missing"},
    {"[generated code]", "code in no file, made while the program ran; "
                         "`sprofile info` says how to name it"},
    {"[9 idle threads]", "the time in which threads did not run that had less "
                         "than 1 % CPU and waited for work at one place; "
                         "--idle shows their stacks"},
    {"[waiting]", "in folded stacks: the thread waited there"},
    {"[runnable]", "in folded stacks: the thread waited there for a CPU"},
    {"[gpu]", "in folded stacks: the thread waited there for a GPU; so it did "
              "with \"[gpu, spinning]\", which is CPU time"},
    {"lib.so+0x1234", "code without a name: a file, and where its function "
                      "begins in it; `sprofile info` says which symbol is "
                      "before it"},
    {"f [clone .cold]", "a part of f that the compiler put elsewhere"},
    {"(7 more)", "branches that are too small to be drawn, with their sum"},
    {"> f", "in a tree: f is the only one that the function above calls; < f, "
            "the only one that calls it"},
};

static const struct word differences[] = {
    {"points", "how many samples of equal weight would tell as much"},
    {"not significant", "the change may be noise, or is too small to matter"},
    {"share", "part of a run's total; shares are compared if the runs did not "
              "do the same work"},
};

/* Print WORD and its meaning in lines that begin in the column of meanings. */
static void
print_word(FILE *stream, const char *word, const char *meaning)
{
    struct wrap wrap = {stream, WIDTH, MEANING, 0, MEANING - 1};
    int blanks = MEANING - 3 - (int)truncate_width(word);
    fprintf(stream, "  %s%*s", word, blanks > 0 ? blanks : 0, "");
    if (blanks < 0)
        fprintf(stream, "\n%*s", MEANING - 1, "");
    wrap_text(&wrap, meaning);
    fputc('\n', stream);
}

static void
print_all(FILE *stream, const char *title, const struct word *words,
          size_t count)
{
    fprintf(stream, "%s\n", title);
    for (size_t i = 0; i < count; i++)
        print_word(stream, words[i].word, words[i].meaning);
    fputc('\n', stream);
}

#define ALL(words) (words), sizeof(words) / sizeof(words)[0]

void
words_print(FILE *stream)
{
    print_all(stream, "Times and states", ALL(times));
    print_all(stream, "Samples", ALL(samples));
    fputs("Why samples are lost\n", stream);
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        print_word(stream, loss_word(i), loss_text(i));
    fputs("\nWhy points are not asked\n", stream);
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        print_word(stream, limit_word(i), limit_text(i));
    fputs("\nWhy stacks are cut\n", stream);
    for (unsigned i = CUT_NONE + 1; i < CUT_COUNT; i++)
        print_word(stream, cut_word(i), cut_text(i));
    fputs("\n", stream);
    print_all(stream, "Names", ALL(names));
    print_all(stream, "Differences", ALL(differences));
}
