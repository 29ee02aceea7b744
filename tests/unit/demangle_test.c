/* SPDX-License-Identifier: MIT */
/*
 * demangle_test.c -- names of symbol tables as their programmers know them, in
 * both forms. The mangled names are real: from libstdc++, LLVM, Boost, rustc
 * and its standard library, and what gcc and clang make of small programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangle.h"

/* A name and its forms; NULL: it is not mangled. */
struct name {
    const char *mangled, *full, *brief;
};

#define CHAR "char, std::char_traits<char>, std::allocator<char> "

static const struct name functions[] = {
    {"_Z3foov", "foo()", "foo"},
    {"_ZN2ns5thing3runEiPKc", "ns::thing::run(int, char const*)",
     "ns::thing::run"},
    {"_ZNK2ns5thing4sizeEv", "ns::thing::size() const", "ns::thing::size"},
    {"_ZNO3Foo3barEv", "Foo::bar() &&", "Foo::bar"},
    {"_ZN3FooC1ERKS_", "Foo::Foo(Foo const&)", "Foo::Foo"},
    {"_ZN3FooD0Ev", "Foo::~Foo()", "Foo::~Foo"},
    {"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo(int)",
     "(anonymous namespace)::foo"},
    {"__ZN3foo3barEv", "foo::bar()", "foo::bar"},
    {"_ZSt9to_stringB5cxx11i", "std::to_string[abi:cxx11](int)",
     "std::to_string[abi:cxx11]"},
};

static const struct name templates[] = {
    {"_Z3barIiEvT_", "void bar<int>(int)", "bar<int>"},
    {"_ZN1A1BIiE1fIcEEvT_", "void A::B<int>::f<char>(char)",
     "A::B<int>::f<char>"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi",
     "std::vector<int, std::allocator<int> >::push_back(int&&)",
     "std::vector<int>::push_back"},
    {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv",
     "std::__cxx11::basic_string<" CHAR ">::size() const", "std::string::size"},
    {"_ZNSt3mapIiSt6vectorIiSaIiEESt4lessIiESaISt4pairIKiS2_EEE4findERS6_",
     "std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, "
     "std::allocator<std::pair<int const, std::vector<int, std::allocator<int> "
     "> > > >::find(int const&)",
     "std::map<int, std::vector<int> >::find"},
    {"_ZNSt16allocator_traitsISaIiEE8allocateERS0_m",
     "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>"
     "&, unsigned long)",
     "std::allocator_traits<std::allocator<int> >::allocate"},
    {"_ZSt6__sortIN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEENS0_5__"
     "ops15_Iter_less_iterEEvT_S9_T0_",
     "void std::__sort<__gnu_cxx::__normal_iterator<int*, std::vector<int, "
     "std::allocator<int> > >, __gnu_cxx::__ops::_Iter_less_iter>(__gnu_cxx::__"
     "normal_iterator<int*, std::vector<int, std::allocator<int> > >, "
     "__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> "
     "> >, __gnu_cxx::__ops::_Iter_less_iter)",
     "std::__sort<...>"},
    {"_ZNSt8functionIFviEEclEi", "std::function<void (int)>::operator()(int)",
     "std::function<void (int)>::operator()"},
    {"_ZN3FooIXgtLi3ELi2EEE1fEv", "Foo<((3)>(2))>::f()", "Foo<((3)>(2))>::f"},
    {"_ZN4llvm12function_refIFvPNS_5ValueEEE11callback_fnIZNS_"
     "8FunctionC1EvEUlS2_E_EEvlS2_",
     "void llvm::function_ref<void (llvm::Value*)>::callback_fn<llvm::"
     "Function::Function()::{lambda(llvm::Value*)#1}>(long, llvm::Value*)",
     "llvm::function_ref<void (llvm::Value*)>::callback_fn<...>"},
    /* The return type is written in gcc's older way, "sr" without "T_". */
    {"_ZN4llvm4yaml7yamlizeINS0_5Hex16EEENSt9enable_ifIXsr16has_ScalarTraitsIT_"
     "EE5valueEvE4typeERNS0_2IOERS4_bRNS0_12EmptyContextE",
     "std::enable_if<has_ScalarTraits<llvm::yaml::Hex16>::value, void>::type "
     "llvm::yaml::yamlize<llvm::yaml::Hex16>(llvm::yaml::IO&, "
     "llvm::yaml::Hex16&, bool, llvm::yaml::EmptyContext&)",
     "llvm::yaml::yamlize<llvm::yaml::Hex16>"},
};

static const struct name operators[] = {
    {"_ZlsRSoRK1A", "operator<<(std::ostream&, A const&)", "operator<<"},
    {"_ZltRK1AS1_", "operator<(A const&, A const&)", "operator<"},
    {"_ZN1AltIiEEbT_", "bool A::operator< <int>(int)", "A::operator< <int>"},
    {"_ZN1AptEv", "A::operator->()", "A::operator->"},
    {"_ZN1AclEi", "A::operator()(int)", "A::operator()"},
    {"_ZN1AixEm", "A::operator[](unsigned long)", "A::operator[]"},
    {"_ZN1AssEi", "A::operator<=>(int)", "A::operator<=>"},
    {"_ZN1AcvSt6vectorIiSaIiEEEv",
     "A::operator std::vector<int, std::allocator<int> >()",
     "A::operator std::vector<int>"},
    {"_ZNK1AcviEv", "A::operator int() const", "A::operator int"},
    {"_Zli2_xPKc", "operator\"\" _x(char const*)", "operator\"\" _x"},
    {"_ZnwmSt11align_val_t", "operator new(unsigned long, std::align_val_t)",
     "operator new"},
    {"_ZdaPv", "operator delete[](void*)", "operator delete[]"},
};

/* What stands in front of a function's name, and within it. */
static const struct name parts[] = {
    {"_Z3fooIiEPFvdET_", "void (*foo<int>(int))(double)", "foo<int>"},
    {"_Z3fooIiEDTcl3barfp_EET_", "decltype (bar({parm#1})) foo<int>(int)",
     "foo<int>"},
    {"_ZZ3fooIiEvT_ENKUliE_clEi",
     "foo<int>(int)::{lambda(int)#1}::operator()(int) const",
     "foo<int>::{lambda#1}::operator()"},
    {"_ZZ4mainENKUlvE_clEv.constprop.0.isra.1",
     "main::{lambda()#1}::operator()() const [clone .constprop.0] [clone "
     ".isra.1]",
     "main::{lambda#1}::operator() [clone .constprop.0] [clone .isra.1]"},
    {"_ZZZ1fvENKUlvE_clEvENKUlvE0_clEv",
     "f()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const",
     "f::{lambda#1}::operator()::{lambda#2}::operator()"},
    {"_Z3foov.part.0", "foo() [clone .part.0]", "foo [clone .part.0]"},
    {"_Z3foov..9x", NULL, "foo [clone ..9] [clone x]"},
    {"_ZN4main15gr$ufc$$u20ac$n17h0123456789abcdefE", "main::gr\u00fc\u20acn",
     "main::gr\u00fc\u20acn"},
    {"_ZN34_$LT$a..$u43a$$u20$as$u20$b..T$GT$4call17h0123456789abcdefE.llvm.1",
     "<a::\u043a as b::T>::call", "<a::\u043a as b::T>::call"},
    {"_Z4taskPZ4taskiE14_Z4taski.Frame.actor",
     "task(task(int)::_Z4taski.Frame*) [clone .actor]", "task [clone .actor]"},
    {"_Z3foov.part.0.cold", "foo() [clone .part.0] [clone .cold]",
     "foo [clone .part.0] [clone .cold]"},
    {"_ZThn16_N3Foo3barEi", "non-virtual thunk to Foo::bar(int)",
     "non-virtual thunk to Foo::bar"},
    {"_ZTW1x", "TLS wrapper function for x", "TLS wrapper function for x"},
    {"_ZGVZ3foovE1x", "guard variable for foo()::x",
     "guard variable for foo::x"},
};

static const struct name other_languages[] = {
    {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
     "core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt"},
    {"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
     "3fmt17h0123456789abcdefE.llvm.123456",
     "<alloc::string::String as core::fmt::Debug>::fmt",
     "<alloc::string::String as core::fmt::Debug>::fmt"},
    {"_ZN4core5slice29_$LT$impl$u20$$u5b$T$u5d$$GT$4iter17h0123456789abcdefE",
     "core::slice::<impl [T]>::iter", "core::slice::<impl [T]>::iter"},
    {"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$"
     "17h0123456789abcdefE",
     "core::ops::function::FnOnce::call_once{{vtable.shim}}",
     "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
    {"_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar", "foo::bar"},
    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", "mycrate::foo::bar"},
    {"_RNvXs_Cs1234_7mycrateINtB4_3FoohENtB4_5Trait3bar",
     "<mycrate::Foo<u8> as mycrate::Trait>::bar",
     "<mycrate::Foo<u8> as mycrate::Trait>::bar"},
    {"_D3std5stdio7writelnFZv", "std.stdio.writeln()", "std.stdio.writeln"},
    {"_D3foo3barFiZ3bazMFZv", "foo.bar(int).baz()", "foo.bar.baz"},
    {"_ZN66_$LT$alloc..sync..Arc$LT$rustc_span..source_map..SourceMap$GT$$GT$"
     "4drop17h0123456789abcdefE",
     "<alloc::sync::Arc<rustc_span::source_map::SourceMap>>::drop",
     "<alloc::sync::Arc<...>>::drop"},
    {"_RINvMC1aINtC1a3BoxFhEINtC1a6OptionhEE4callhE",
     "<a::Box<fn(u8) -> a::Option<u8>>>::call::<u8>",
     "<a::Box<fn(u8) -> a::Option<u8>>>::call::<u8>"},
    {"_RINvNtC4core3ptr13drop_in_placeFReEINtNtC5alloc3vec3VechENtC1a1AE",
     "core::ptr::drop_in_place::<fn(&str) -> alloc::vec::Vec<u8>, a::A>",
     "core::ptr::drop_in_place::<...>"},
    {"_ZN6broken8$LT$open17h0123456789abcdefE", "broken::<open",
     "broken::<open"},
    {"_D3std9algorithm__T4sortVAyaa5_61203c2062Vii0TAiZ4sortFAiZv",
     "std.algorithm.sort!(\"a < b\", 0, int[]).sort(int[])",
     "std.algorithm.sort!(\"a < b\", 0, int[]).sort"},
    {"_D1a__T1bTAyaTAyaTiZ1cMxFZv",
     "a.b!(immutable(char)[], immutable(char)[], int).c() const",
     "a.b!(...).c"},
};

static const struct name none[] = {
    {"main", NULL, NULL},
    {"_Z", NULL, NULL},
    {"_Delay", NULL, NULL},
    {"_start", NULL, NULL},
    {"", NULL, NULL},
    {"_ZN", NULL, NULL},
    {"_R", NULL, NULL},
    {"_Z3foo", "foo", "foo"},
    /* The type does not end where the name does. */
    {"_ZSt8to_stringB5cxx11i", NULL, NULL},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi@plt", NULL, NULL},
};

static void
check_form(const char *mangled, const char *expected, enum demangle_form form)
{
    char *name = demangle(mangled, form);
    if (expected != NULL)
        assert_string_equal(name ? name : mangled, expected);
    else
        assert_null(name);
    free(name);
}

static void
check(const struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_form(names[i].mangled, names[i].full, DEMANGLE_FULL);
        check_form(names[i].mangled, names[i].brief, DEMANGLE_SHORT);
    }
}

#define CHECK(names) check(names, sizeof(names) / sizeof(*(names)))

static void
names_become_short(void **state)
{
    (void)state;
    CHECK(functions);
    CHECK(templates);
    CHECK(operators);
    CHECK(parts);
    CHECK(other_languages);
    CHECK(none);
}

/* The name of f<A<int, int>, A<P, P>, A<Q, Q>, ...> where each is made of the
 * one before (substitutions, C++ ABI 5.1.10): the text doubles with each of the
 * 33, and would have 10 GiB. */
static char *
make_doubled(void)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char mangled[4096] = "_Z1fI1AIiiE";
    size_t length = strlen(mangled);
    for (unsigned i = 1; i < 34; i++)
        length += (size_t)snprintf(mangled + length, sizeof(mangled) - length,
                                   "S0_IS%c_S%c_E", digits[i], digits[i]);
    snprintf(mangled + length, sizeof(mangled) - length, "Evv");
    return demangle(mangled, DEMANGLE_SHORT);
}

static void
a_text_without_end_is_harmless(void **state)
{
    char *name = make_doubled();
    (void)state;
    assert_string_equal(name, "f<...>");
    free(name);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_short),
        cmocka_unit_test(a_text_without_end_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
