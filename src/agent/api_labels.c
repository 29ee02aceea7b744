/* SPDX-License-Identifier: MIT */
/* api_labels.c -- labels and marks, as include/sprof.h reaches them. */
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/phase.h"
#include "labels/labels.h"
#include "sampling/marks.h"
#include "doze.h"
#include "lifecycle.h"
#include "sprof.h"

#define API __attribute__((visibility("default")))

API int
sprof_api_label_set(const char *key, const char *value)
{
    return labels_set(key, value);
}

API int64_t
sprof_api_label_begin(const char *key, const char *value)
{
    return labels_push(key, value);
}

API int
sprof_api_label_end(int64_t scope)
{
    return labels_pop(scope);
}

/* In the child of a fork that is not followed, no thread would write them. A
 * program that marks is worth sampling, however little it has computed so far.
 */
static bool
are_marks_taken(void)
{
    if (lifecycle_is_early() && phase_is_own())
        doze_hurry();
    return marks_are_open() && phase_is_on();
}

API int
sprof_api_mark(const char *name)
{
    if (!are_marks_taken())
        return SPROF_ERROR_NOT_RUNNING;
    return marks_put(MARK_USER, name, clock_now(), 0);
}

/* A span is the time at which it began. */
API int64_t
sprof_api_span_begin(void)
{
    return labels_are_on() ? (int64_t)clock_now() : SPROF_ERROR_NOT_RUNNING;
}

API int
sprof_api_span_end(int64_t span, const char *name)
{
    if (span <= 0)
        return span < 0 ? (int)span : SPROF_ERROR_INVALID;
    if (!are_marks_taken())
        return SPROF_ERROR_NOT_RUNNING;
    uint64_t now = clock_now(), begun = (uint64_t)span;
    if (begun > now)
        return SPROF_ERROR_INVALID;
    return marks_put(MARK_SPAN, name, begun, now - begun);
}
