// SPDX-License-Identifier: MIT
//
// templates.cc -- a program of templates for names.py: maps, variants, ranges,
// regular expressions and functions, of 24 types of our own each.
#include <algorithm>
#include <any>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#include <thread>
#include <future>
#include <deque>
namespace heavy
{
template <int N> struct point {
    long x = N, y = 0;
    auto operator<=>(const point &) const = default;
};
template <int N>
using value = std::variant<long, std::string, std::vector<int>, point<N>>;
template <int N> struct sum {
    long
    operator()(long v) const
    {
        return v + N;
    }
    long
    operator()(const std::string &s) const
    {
        return (long)s.size() * N;
    }
    long
    operator()(const std::vector<int> &v) const
    {
        return std::accumulate(v.begin(), v.end(), N);
    }
    long
    operator()(const point<N> &p) const
    {
        return p.x + p.y;
    }
};
template <int N>
long
visit(std::map<std::string, value<N>> &m)
{
    long total = 0;
    for (auto &[key, v] : m)
        total += std::visit(sum<N>{}, v) + (long)key.size();
    return total;
}
template <int N>
long
ranges(const std::vector<int> &v)
{
    auto chosen = v |
                  std::views::filter([](int x) { return x % (N + 2) == 0; }) |
                  std::views::transform([](int x) { return x * x + N; }) |
                  std::views::take(1000);
    long total = 0;
    for (int x : chosen)
        total += x;
    return total;
}
template <int N>
long
match(const std::string &text)
{
    std::regex r("([a-z]+)" + std::to_string(N) + "(x|y)*");
    long n = 0;
    for (std::sregex_iterator i(text.begin(), text.end(), r), end; i != end;
         ++i)
        n += i->length();
    return n;
}
template <int N>
long
sorts(std::vector<int> v)
{
    std::vector<std::pair<point<N>, std::string>> pairs;
    for (int x : v)
        pairs.emplace_back(point<N>{x, x % 7}, std::to_string(x));
    std::ranges::sort(pairs, std::greater{}, [](auto &p) { return p.first; });
    std::unordered_map<std::string, std::set<point<N>>> by;
    for (auto &[p, s] : pairs)
        by[s.substr(0, 2)].insert(p);
    std::function<long(int)> f = [&](int d) -> long {
        return d <= 0 ? (long)by.size()
                      : f(d - 1) + (long)by.begin()->second.size();
    };
    return f(N);
}
template <int N>
long
one(const std::vector<int> &v, const std::string &text)
{
    std::map<std::string, value<N>> m;
    for (int x : v) {
        auto k = std::to_string(x);
        if (x % 3 == 0)
            m[k] = (long)x;
        else if (x % 3 == 1)
            m[k] = k;
        else
            m[k] = point<N>{x, x};
    }
    std::ostringstream out;
    out << visit<N>(m) << ranges<N>(v) << match<N>(text);
    std::shared_ptr<std::deque<point<N>>> q =
        std::make_shared<std::deque<point<N>>>(v.size());
    std::any a = std::make_tuple(N, std::string("x"), q);
    return sorts<N>(v) + (long)out.str().size() +
           (long)std::get<2>(
               std::any_cast<std::tuple<int, std::string,
                                        std::shared_ptr<std::deque<point<N>>>>>(
                   a))
               ->size();
}
template <int... N>
long
all(std::integer_sequence<int, N...>, const std::vector<int> &v,
    const std::string &t)
{
    return (one<N>(v, t) + ...);
}
} // namespace heavy
int
main()
{
    std::vector<int> v(2000);
    std::iota(v.begin(), v.end(), 0);
    std::cout << heavy::all(std::make_integer_sequence<int, 24>{}, v,
                            "abc1xy def2 ghi3yyx")
              << "\n";
}
