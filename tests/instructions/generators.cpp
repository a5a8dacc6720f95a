// The cost of a value from a generator beside that of a call, counted with callgrind.
//
//   generators call N   N calls of a coroutine that returns an int at once
//   generators next N   N values of a generator<int>
#include "even_clock.hpp"

#include <fairlead/coro/generator.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>

#include <cstdlib>
#include <string_view>

namespace {

using namespace fairlead;

FAIRLEAD_NOINLINE awaitable<int> number(int n) { co_return n; }
FAIRLEAD_NOINLINE generator<int> numbers(int n) {
    for (int i = 0; i != n; ++i)
        co_yield i;
}

awaitable<void> call(int n, long& sum) {
    for (int i = 0; i != n; ++i) {
        int const value = co_await number(i);
        sum += value;
    }
}
awaitable<void> read(int n, long& sum) {
    auto g = numbers(n);
    while (auto const value = co_await g.next())
        sum += *value;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const mode = argv[1];
    int const n = std::atoi(argv[2]);
    long sum = 0;
    io_context context(1);
    co_spawn(context, mode == "next" ? read(n, sum) : call(n, sum), detached);
    context.run();
    return sum == static_cast<long>(n) * (n - 1) / 2 ? 0 : 1;
}
