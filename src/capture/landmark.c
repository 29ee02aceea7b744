/* SPDX-License-Identifier: MIT */
/* landmark.c -- see landmark.h. */
#include <string.h>

#include "base/sys.h"
#include "landmark.h"
#include "poison.h"

/* Whether the LENGTH bytes of CODE, 16 at most, are at PC. */
static bool
has_code(uint64_t pc, const uint8_t *code, size_t length)
{
    uint8_t bytes[16];
    return sys_read_memory(bytes, pc, length) == (long)length &&
           memcmp(bytes, code, length) == 0;
}

bool
landmark_is_restorer(uint64_t pc)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
                                   0x00, 0x00, 0x0f, 0x05};
    return has_code(pc, code, sizeof(code)) ||
           has_code(pc + 1, code, sizeof(code));
}

bool
landmark_is_entry(uint64_t pc)
{
    static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa};
    return has_code(pc, code, sizeof(code));
}

bool
landmark_is_call(uint64_t pc)
{
    static const uint8_t code[] = {0x0f, 0x05};
    return has_code(pc, code, sizeof(code));
}
