// SPDX-License-Identifier: MIT
//
// long_names.cc -- functions whose names are hard to show: overloads, templates
// with long and short lists of arguments, operators, lambdas, a namespace
// without a name, one that is split by the compiler, a name of Swift's. Each is
// called `rounds` times and computes for about a millisecond.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

// Of work.h, which is C alone.
extern "C" uint64_t work_burn(unsigned ms);

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noipa))
#endif

static volatile uint64_t sink;

NOINLINE static void
burn()
{
    sink = sink + work_burn(1);
}

namespace
{
NOINLINE void
hidden(int)
{
    burn();
    sink = sink + 1;
}
} // namespace

namespace shop
{
struct Order {
    NOINLINE bool
    operator<(const Order &) const
    {
        burn();
        return sink > 1;
    }
    NOINLINE int
    operator()(const char *) const
    {
        burn();
        return sink > 1;
    }
    NOINLINE operator std::vector<int>() const
    {
        burn();
        return {};
    }
};

NOINLINE void
price(int)
{
    burn();
    sink = sink + 1;
}

NOINLINE void
price(const std::string &)
{
    burn();
    sink = sink + 1;
}

// Its return type is a pointer to a function.
template <class T>
NOINLINE auto
choose(T) -> void (*)(int)
{
    burn();
    return sink > 1 ? hidden : nullptr;
}

template <class Key, class Value> struct Index {
    template <class Visit>
    NOINLINE void
    visit(const Visit &visit) const
    {
        visit(1);
        sink = sink + 1;
    }
};
} // namespace shop

using Long =
    std::map<std::string, std::vector<std::function<void(long, char)>>>;

// As Swift's compiler would call it.
void swift() __asm__("\"$s4main3fooyyF\"");
NOINLINE void
swift()
{
    burn();
    sink = sink + 1;
}

NOINLINE static void
call_all()
{
    shop::Order order;
    swift();
    sink = sink + (order < order) + (uint64_t)order("") +
           ((std::vector<int>)order).size();
    shop::price(1);
    shop::price(std::string("one"));
    hidden(1);
    sink = sink + (shop::choose<short>(1) != nullptr);
    auto nothing = [](int) {
        burn();
        sink = sink + 1;
    };
    shop::Index<int, long>().visit(nothing);
    shop::Index<Long, std::vector<Long>>().visit(nothing);
}

int
main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50;

    for (int i = 0; i < rounds; i++)
        call_all();
    printf("%llu\n", (unsigned long long)sink);
    return 0;
}
