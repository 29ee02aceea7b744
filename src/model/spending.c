/* SPDX-License-Identifier: MIT */
/* spending.c -- see spending.h. Numbers may come from a damaged file. */
#include <stdbool.h>

#include "util/line.h"
#include "util/number.h"
#include "spending.h"

/* Number of epochs of a process that are listed one by one. */
enum { EPOCHS_SHOWN = 6 };

/* Epochs taken together. */
struct sum {
    uint32_t epochs;
    uint64_t least, most; /* rates, in Hz */
    uint64_t cheap, dear; /* ns for an interruption */
    uint64_t allowed;     /* the largest */
    uint64_t cpu, taken, spent;
    bool is_limited; /* a rate differs from the one that was asked for */
};

static uint64_t
rate_of(const struct profile_epoch *epoch)
{
    return (1000000000u + epoch->period / 2) / epoch->period;
}

static void
sum_up(const struct profile *profile, uint32_t from, struct sum *sum)
{
    *sum = (struct sum){.least = UINT64_MAX, .cheap = UINT64_MAX};
    for (uint32_t i = from; i < profile->epoch_count; i++) {
        const struct profile_epoch *epoch = &profile->epochs[i];
        uint64_t rate = rate_of(epoch);
        sum->epochs++;
        sum->least = rate < sum->least ? rate : sum->least;
        sum->most = rate > sum->most ? rate : sum->most;
        sum->cheap = epoch->each < sum->cheap ? epoch->each : sum->cheap;
        sum->dear = epoch->each > sum->dear ? epoch->each : sum->dear;
        sum->allowed =
            epoch->allowed > sum->allowed ? epoch->allowed : sum->allowed;
        sum_add(&sum->cpu, epoch->cpu);
        sum_add(&sum->taken, epoch->taken);
        sum_add(&sum->spent, epoch->spent);
        sum->is_limited |=
            epoch->period > profile->processes[epoch->process].period;
    }
}

/* "66 to 1000 Hz", or "66 Hz". */
static void
add_rates(struct line *line, const struct sum *sum)
{
    if (sum->least != sum->most)
        line_add(line, "%llu to ", (unsigned long long)sum->least);
    line_add(line, "%llu Hz", (unsigned long long)sum->most);
}

static void
add_epochs(struct line *line, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->epoch_count && i < EPOCHS_SHOWN; i++) {
        const struct profile_epoch *epoch = &profile->epochs[i];
        line_add(line, "%s%llu%s for %.3f s%s", i > 0 ? ", " : "",
                 (unsigned long long)rate_of(epoch), i > 0 ? "" : " Hz",
                 number_seconds(epoch->cpu), i > 0 ? "" : " of CPU");
    }
    struct sum rest;
    sum_up(profile, EPOCHS_SHOWN, &rest);
    if (rest.epochs == 0)
        return;
    line_add(line, ", then ");
    add_rates(line, &rest);
    line_add(line, " for %.3f s", number_seconds(rest.cpu));
}

char *
spending_rates(const struct profile *profile, char *text, size_t size)
{
    struct line line = {text, size, 0};
    struct sum all;
    text[0] = '\0';
    sum_up(profile, 0, &all);
    if (!all.is_limited)
        return text;
    if (profile->process_count == 1) {
        add_epochs(&line, profile);
        return text;
    }
    add_rates(&line, &all);
    line_add(&line, " in %u epochs of %u processes", all.epochs,
             profile->process_count);
    return text;
}

char *
spending_cost(const struct profile *profile, char *text, size_t size)
{
    struct line line = {text, size, 0};
    struct sum all;
    uint64_t measured = profile->cost.stopped;
    text[0] = '\0';
    sum_up(profile, 0, &all);
    if (all.epochs == 0 || all.cpu == 0)
        return text;
    line_add(&line, "by the model %.3f s, %.2f %% of %.3f s CPU (",
             number_seconds(all.spent), number_percent(all.spent, all.cpu),
             number_seconds(all.cpu));
    if (all.allowed == 0)
        line_add(&line, "any is allowed)");
    else
        line_add(&line, "%g %% allowed)", (double)all.allowed / 1e7);
    line_add(&line, ": %llu interruption%s of ", (unsigned long long)all.taken,
             number_plural(all.taken));
    if (all.cheap != all.dear)
        line_add(&line, "%.1f to ", (double)all.cheap / 1000);
    sum_add(&measured, profile->cost.sampler_cpu);
    line_add(&line, "%.1f us; measured %.3f s (threads stopped, sampler)",
             (double)all.dear / 1000, number_seconds(measured));
    return text;
}
