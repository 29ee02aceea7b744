// SPDX-License-Identifier: MIT
//
// labels_scope.cc -- labels from C++: a scope is a block, also when an
// exception leaves it, and in a destructor of thread-local storage.
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "sprof.h"

// Of work.h, which is C alone.
extern "C" uint64_t work_burn(unsigned ms);

static volatile uint64_t sink;

static void
compute(unsigned ms)
{
    sink = sink + work_burn(ms);
}

struct Late {
    ~Late()
    {
        sprof_label_scope scope("where", "late");
        compute(100);
    }
};

static thread_local Late late;

static void
thrower()
{
    sprof_label_scope scope("where", "thrower");
    compute(100);
    throw std::runtime_error("out of here");
}

static void
work_in_thread()
{
    (void)&late;
    compute(100);
}

int
main()
{
    sprof_label_scope outer("outer", "yes");
    try {
        thrower();
    } catch (const std::exception &) {
        compute(100);
    }
    std::thread(work_in_thread).join();
    std::puts("ok");
}
