/* SPDX-License-Identifier: MIT */
/* api.c -- what include/sprof.h reaches by weak symbols. Any context. */
#include "lifecycle.h"
#include "sprof.h"

#define API __attribute__((visibility("default")))

API int
sprof_api_is_running(void)
{
    return lifecycle_is_running();
}

API const char *
sprof_api_version(void)
{
    return SPROF_VERSION;
}
