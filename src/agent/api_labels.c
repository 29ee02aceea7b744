/* SPDX-License-Identifier: MIT */
/* api_labels.c -- labels and marks, as include/sprof.h reaches them. */
#include <stdint.h>

#include "base/clock.h"
#include "labels.h"
#include "lifecycle.h"
#include "marks.h"
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

API int
sprof_api_mark(const char *name)
{
    if (!lifecycle_is_on())
        return SPROF_ERROR_NOT_RUNNING;
    return marks_put(MARK_USER, name, clock_now(), 0);
}

/* A span is the time at which it began. */
API int64_t
sprof_api_span_begin(void)
{
    if (!lifecycle_is_on())
        return SPROF_ERROR_NOT_RUNNING;
    return (int64_t)clock_now();
}

API int
sprof_api_span_end(int64_t span, const char *name)
{
    uint64_t now = clock_now(), begun = (uint64_t)span;
    if (span <= 0)
        return span < 0 ? (int)span : SPROF_ERROR_INVALID;
    if (!lifecycle_is_on())
        return SPROF_ERROR_NOT_RUNNING;
    if (begun > now)
        return SPROF_ERROR_INVALID;
    return marks_put(MARK_SPAN, name, begun, now - begun);
}
