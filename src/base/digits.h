/* SPDX-License-Identifier: MIT */
/* digits.h -- numbers as the kernel writes them in /proc. Context: any. */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdint.h>

/* Read the decimal digits at *AT, and move *AT past them. Returns 0 if there
 * are none, UINT64_MAX if there are too many. */
static inline uint64_t
digits_take(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number > (UINT64_MAX - 9) / 10
                     ? UINT64_MAX
                     : number * 10 + (uint64_t)(**at - '0');
    return number;
}

/* The same for hexadecimal digits, in small letters and without a prefix; of
 * too many digits the last 16 count. */
static inline uint64_t
digits_take_hex(const char **at)
{
    uint64_t number = 0;
    for (;; (*at)++) {
        if (**at >= '0' && **at <= '9')
            number = number << 4 | (uint64_t)(**at - '0');
        else if (**at >= 'a' && **at <= 'f')
            number = number << 4 | (uint64_t)(**at - 'a' + 10);
        else
            return number;
    }
}

#endif
