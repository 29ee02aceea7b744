// SPDX-License-Identifier: MIT
//
// chaos.cc -- C++ exceptions for the chaos workload: thrown through frames
// whose destructors count, so that a wrong unwind is noticed. The runtime's
// unwinder is libgcc's; a profiler that brings another one breaks this.
#include "chaos.h"

#include <stdexcept>
#include <string>

namespace
{

struct guard {
    unsigned &count;

    explicit guard(unsigned &counter) : count(counter)
    {
    }
    ~guard()
    {
        count++;
    }
};

__attribute__((noinline)) void
throw_below(unsigned depth, unsigned &count)
{
    guard counted(count);

    if (depth <= 1)
        throw std::runtime_error(std::string(40, 'x'));
    throw_below(depth - 1, count);
    __asm__ volatile("");
}

} // namespace

unsigned
chaos_throw(unsigned depth)
{
    unsigned count = 0;

    try {
        throw_below(depth, count);
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()).size() != 40)
            return 0;
    }
    return count;
}
