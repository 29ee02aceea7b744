/* SPDX-License-Identifier: MIT */
/*
 * thread_word.c -- see thread_word.h. The forms are those of "ELF Handling For
 * Thread-Local Storage" (U. Drepper). Data that exists when a thread begins
 * lies right below its control block, at the same distance in all threads. All
 * is read by system calls.
 */
#include <string.h>

#include "base/sys.h"
#include "unwind/thread_word.h"
#include "base/poison.h"

#define CODE_MOST 32u

/* Whether CODE begins with the COUNT BYTES. If so, *CODE is moved past them. */
static bool
take(const uint8_t **code, const char *bytes, size_t count)
{
    if (memcmp(*code, bytes, count) != 0)
        return false;
    *code += count;
    return true;
}

static int32_t
take_number(const uint8_t **code)
{
    int32_t number;
    memcpy(&number, *code, sizeof(number));
    *code += sizeof(number);
    return number;
}

/* mov %fs:NUMBER, %rax; ret. Or mov NUMBER(%rip), %rax; mov %fs:(%rax), %rax;
 * ret. CODE is a copy of the code at ADDRESS. */
static bool
read_fixed(struct thread_word *word, const uint8_t *code, uint64_t address)
{
    const uint8_t *begin = code;
    if (take(&code, "\x64\x48\x8b\x04\x25", 5)) {
        word->fixed = take_number(&code);
        return *code == 0xc3;
    }
    if (!take(&code, "\x48\x8b\x05", 3))
        return false;
    uint64_t entry = (uint64_t)(int64_t)take_number(&code);
    entry += address + (uint64_t)(code - begin);
    return take(&code, "\x64\x48\x8b\x00\xc3", 5) &&
           sys_copy_memory(&word->fixed, entry, sizeof(word->fixed));
}

/* lea NUMBER(%rip), %rdi; call __tls_get_addr; mov MORE(%rax), %rax. */
static bool
read_called(struct thread_word *word, const uint8_t *code, uint64_t address)
{
    const uint8_t *begin = code;
    if (!take(&code, "\x48\x83\xec\x08", 4) && !take(&code, "\x50", 1) &&
        !take(&code, "\x55\x48\x89\xe5", 4))
        return false;
    bool is_padded = take(&code, "\x66", 1);
    if (!take(&code, "\x48\x8d\x3d", 3))
        return false;
    word->index = (uint64_t)(int64_t)take_number(&code);
    word->index += address + (uint64_t)(code - begin);
    if (!take(&code, is_padded ? "\x66\x66\x48\xe8" : "\xe8",
              is_padded ? 4 : 1))
        return false;
    code += 4;
    if (take(&code, "\x48\x8b\x80", 3))
        word->more = take_number(&code);
    else if (!take(&code, "\x48\x8b\x00", 3))
        return false;
    return true;
}

bool
thread_word_read(struct thread_word *word, uint64_t address)
{
    uint8_t bytes[CODE_MOST];
    const uint8_t *code = bytes;
    *word = (struct thread_word){0};
    if (!sys_copy_memory(bytes, address, sizeof(bytes)))
        return false;
    if (take(&code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
        address += 4;
    if (read_fixed(word, code, address))
        return true;
    *word = (struct thread_word){0};
    return read_called(word, code, address);
}
