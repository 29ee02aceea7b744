/* SPDX-License-Identifier: MIT */
/* api.c -- what include/sprof.h reaches by weak symbols. */
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/phase.h"
#include "sampling/registry.h"
#include "sampling/session.h"
#include "sprof.h"

#define API __attribute__((visibility("default")))

API int
sprof_api_is_running(void)
{
    return phase_is_running() && session_is_announced();
}

API const char *
sprof_api_version(void)
{
    return SPROF_VERSION;
}

API int
sprof_api_thread_register(const char *name)
{
    if (!phase_is_running()) {
        errno = ENOTCONN;
        return -1;
    }
    if (name != NULL && prctl(PR_SET_NAME, name) != 0)
        return -1;
    registry_add_caller();
    return 0;
}
