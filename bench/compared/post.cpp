// The cost of running a function later. One source for Fairlead (through the headers of fairlead::asio_compat) and
// for Asio. A socket is open and waits for data, as in every program that has a reason to run a loop.
//
//   post ROW N FLOWS
//     ROW      callback     chains of handlers, each of which posts the next
//              strand       the same through a strand
//              await        coroutines that await a post
//              yield        coroutines that await this_coro::yield(), which Fairlead alone has
//              from_thread  another thread posts all; prints the wall time of each
//     N        in all
//     FLOWS    chains or coroutines that take turns
#include <asio.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using socket_type = asio::local::stream_protocol::socket;

struct program {
    asio::io_context context{1};
    socket_type waiting{context}, silent{context};
    std::array<char, 1> data{};
    int flows;
    long each;

    program(int f, long n) : flows(f), each(n / f) {
        asio::local::connect_pair(waiting, silent);
        waiting.async_read_some(asio::buffer(data), [](auto, std::size_t) {});
    }
    void flow_has_ended() {
        if (--flows == 0)
            context.stop(); // The socket would wait for ever.
    }
};

template <class Executor> struct chain {
    program* all;
    Executor const* executor;
    long left;
    void operator()() {
        if (--left > 0)
            asio::post(*executor, chain(*this));
        else
            all->flow_has_ended();
    }
};
template <class Executor> void run_chains(program& all, Executor const& executor) {
    for (int i = all.flows; i != 0; --i)
        asio::post(executor, chain<Executor>{&all, &executor, all.each});
    all.context.run();
}

asio::awaitable<void> await_posts(program& all) {
    auto const executor = all.context.get_executor();
    for (long i = all.each; i != 0; --i)
        co_await asio::post(executor, asio::use_awaitable);
    all.flow_has_ended();
}
#ifdef FAIRLEAD_VERSION_MAJOR
asio::awaitable<void> await_yields(program& all) {
    for (long i = all.each; i != 0; --i)
        co_await asio::this_coro::yield();
    all.flow_has_ended();
}
#endif
void run_coroutines(program& all, asio::awaitable<void> (*flow)(program&)) {
    for (int i = all.flows; i != 0; --i)
        asio::co_spawn(all.context, flow(all), asio::detached);
    all.context.run();
}

void run_from_thread(program& all) {
    using clock = std::chrono::steady_clock;
    long left = all.each;
    auto const begun = clock::now();
    std::thread poster([&, n = left] {
        for (long i = 0; i != n; ++i)
            asio::post(all.context, [&] {
                if (--left == 0)
                    all.flow_has_ended();
            });
    });
    all.context.run();
    auto const took = std::chrono::duration<double, std::nano>(clock::now() - begun);
    poster.join();
    std::printf("%.3f wall ns\n", took.count() / static_cast<double>(all.each));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    auto const is = [&](char const* row) { return std::strcmp(argv[1], row) == 0; };
    program all(std::atoi(argv[3]), std::atol(argv[2]));
    auto const executor = all.context.get_executor();
    if (is("callback"))
        run_chains(all, executor);
    else if (is("strand"))
        run_chains(all, asio::make_strand(executor));
    else if (is("await"))
        run_coroutines(all, &await_posts);
#ifdef FAIRLEAD_VERSION_MAJOR
    else if (is("yield"))
        run_coroutines(all, &await_yields);
#endif
    else if (is("from_thread"))
        run_from_thread(all);
    else
        return 2;
}
