// Threads against the library: threads [SECONDS [SEED]]
//
// Each round makes a context (or two, or a pool), and lets several threads run it. It does everything at once that
// threads may do at once. Coroutines and callbacks talk over sockets behind strands. Timers expire and are cancelled,
// and signals of cancellation are emitted from other threads. Posts cross contexts, handlers throw, run() is stopped
// and resumed, and contexts go with everything pending. Each operation must end exactly once, and no byte may differ.
// Meant for the thread sanitizer; without SECONDS it does a few rounds, as a test.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

/// The numbers of operations that a round started and that ended; all threads count here.
struct tally {
    std::atomic<std::uint64_t> started{0}, ended{0}, dropped{0}, bytes{0}, cancelled{0}, thrown{0}, wrong{0};
    void expect(bool good) { wrong += !good; }
};

/// Counts itself as ended when it is called, and as dropped when it is destroyed without a call. Never both, nor twice.
class once {
public:
    explicit once(tally& t) : tally_(&t) { ++t.started; }
    once(once&& other) noexcept : tally_(std::exchange(other.tally_, nullptr)) {}
    once& operator=(once&&) = delete;
    ~once() {
        if (tally_)
            ++tally_->dropped;
    }
    void operator()() {
        if (tally_)
            ++std::exchange(tally_, nullptr)->ended;
        else
            std::abort();
    }

private:
    tally* tally_;
};

template <class Socket> awaitable<void> echo(Socket s, once end) {
    std::string bytes(700, ' ');
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
        if (ec)
            break;
        auto const [failed, sent] = co_await async_write(s, buffer(bytes, n), as_tuple);
        if (failed)
            break;
    }
    end();
}

template <class Socket> awaitable<void> talk(Socket s, int messages, std::size_t size, tally& t, once end) {
    std::string out(size, 'a'), in(size, ' ');
    for (int i = 0; i != messages; ++i) {
        out[0] = static_cast<char>(i);
        auto const [failed, sent] = co_await async_write(s, buffer(out), as_tuple);
        auto const [ec, n] = co_await async_read(s, buffer(in), as_tuple);
        t.expect(!failed && !ec && in == out);
        t.bytes += n;
    }
    end();
}

/// A read that never ends by itself; another thread asks it to.
template <class Executor> void cancel_from_elsewhere(Executor const& on, io_context& elsewhere, tally& t) {
    struct waiting {
        explicit waiting(Executor const& e) : a(e), b(e) { local::connect_pair(a, b); }
        basic_stream_socket<local::stream_protocol, Executor> a, b;
        cancellation_signal signal;
        std::array<char, 8> bytes;
    };
    auto w = std::make_shared<waiting>(on);
    w->a.async_read_some(
        buffer(w->bytes),
        bind_cancellation_slot(w->signal.slot(), [w, &t, end = once(t)](error_code ec, std::size_t) mutable {
            t.expect(ec == error::operation_aborted);
            ++t.cancelled;
            end();
        }));
    post(elsewhere, [w, end = once(t)]() mutable {
        w->signal.emit(cancellation_type::terminal);
        end();
    });
}

template <class Executor> void time_out(Executor const& on, tally& t, sim::random_stream& random) {
    auto timer = std::make_shared<basic_waitable_timer<steady_clock, wait_traits<steady_clock>, Executor>>(on);
    timer->expires_after(std::chrono::microseconds(random.below(300)));
    timer->async_wait([timer, end = once(t)](error_code) mutable { end(); });
    auto late = std::make_shared<basic_waitable_timer<steady_clock, wait_traits<steady_clock>, Executor>>(on);
    late->expires_after(1h);
    late->async_wait(
        cancel_after(std::chrono::microseconds(random.below(200)), [late, &t, end = once(t)](error_code ec) mutable {
            t.expect(ec == error::operation_aborted);
            end();
        }));
}

/// Posts that hop between two contexts.
void hop(io_context& here, io_context& there, int left, tally& t, once end) {
    if (left == 0) {
        end();
        return;
    }
    post(there,
         [&here, &there, left, &t, end = std::move(end)]() mutable { hop(there, here, left - 1, t, std::move(end)); });
}

void run_in_spite_of_exceptions(io_context& c, tally& t) {
    for (;;) {
        try {
            c.run();
            return;
        } catch (std::runtime_error const&) {
            ++t.thrown;
        }
    }
}

template <class Executor>
void start_everything(Executor const& on, io_context& other, tally& t, sim::random_stream& random) {
    using socket = basic_stream_socket<local::stream_protocol, Executor>;
    using tcp_socket = basic_stream_socket<ip::tcp, Executor>;
    int const pairs = 1 + static_cast<int>(random.below(4));
    for (int i = 0; i != pairs; ++i) {
        auto const size = 1 + random.below(4000);
        int const messages = 1 + static_cast<int>(random.below(20));
        if (random.below(2)) {
            socket a(on), b(on);
            local::connect_pair(a, b);
            co_spawn(on, echo(std::move(a), once(t)), detached);
            co_spawn(on, talk(std::move(b), messages, size, t, once(t)), detached);
        } else {
            basic_socket_acceptor<ip::tcp, Executor> acceptor(on, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
            tcp_socket a(on), b(on);
            a.connect(acceptor.local_endpoint());
            acceptor.accept(b);
            a.set_option(ip::tcp::no_delay(true)); // A round is not to wait for delayed acknowledgements.
            b.set_option(ip::tcp::no_delay(true));
            co_spawn(on, echo(std::move(a), once(t)), detached);
            co_spawn(on, talk(std::move(b), messages, size, t, once(t)), detached);
        }
    }
    for (auto n = random.below(6); n != 0; --n)
        cancel_from_elsewhere(on, other, t);
    for (auto n = random.below(6); n != 0; --n)
        time_out(on, t, random);
}

/// Threads inside run() of both.
class runners {
public:
    runners(io_context& first, io_context& second, std::uint64_t each, tally& t) {
        for (std::uint64_t i = 0; i != each; ++i)
            for (io_context* c : {&first, &second})
                threads_.emplace_back([c, &t] { run_in_spite_of_exceptions(*c, t); });
    }
    runners(runners const&) = delete;
    runners& operator=(runners const&) = delete;
    ~runners() {
        for (auto& each : threads_)
            each.join();
    }

private:
    std::vector<std::thread> threads_;
};

/// False: they were left behind with whatever was pending.
bool run_everything(io_context& first, io_context& second, thread_pool& pool, tally& t, sim::random_stream& random) {
    bool const is_stopped = random.below(3) == 0;
    bool const is_left_behind = random.below(4) == 0; // with whatever is pending
    auto const posts = random.below(50);
    auto const each = 1 + random.below(3);
    auto guard_first = make_work_guard(first); // Neither ends while the other may still post to it.
    auto guard_second = make_work_guard(second);
    if (is_stopped || is_left_behind) {
        runners const threads(first, second, each, t);
        for (std::uint64_t i = 0; i != posts; ++i) {
            post(i % 2 ? first : second, [end = once(t)]() mutable { end(); });
            post(pool, [end = once(t)]() mutable { end(); });
        }
        first.stop();
        second.stop();
    }
    if (is_left_behind) {
        pool.stop();
        return false;
    }
    first.restart();
    second.restart();
    {
        runners const threads(first, second, each, t);
        for (std::uint64_t i = 0; i != posts; ++i)
            post(i % 2 ? first : second, [end = once(t)]() mutable { end(); });
        pool.join();
        guard_first.reset();
        guard_second.reset();
    }
    // One may have run out of work before the other posted to it.
    for (std::uint64_t before = 0; before != t.ended;) {
        before = t.ended;
        for (io_context* c : {&first, &second}) {
            c->restart();
            run_in_spite_of_exceptions(*c, t);
        }
    }
    return true;
}

void round(std::uint64_t seed, tally& t) {
    sim::random_stream random(seed, 0);
    io_context first, second;
    thread_pool pool(1 + random.below(3));
    auto const everything = [&] {
        start_everything(make_strand(first), second, t, random);
        start_everything(make_strand(second), first, t, random);
        start_everything(any_io_executor(make_strand(pool)), first, t, random);
        for (auto n = random.below(5); n != 0; --n)
            hop(first, second, static_cast<int>(random.below(50)), t, once(t));
        for (auto n = random.below(3); n != 0; --n)
            post(first, [end = once(t)]() mutable {
                end();
                throw std::runtime_error("a handler's");
            });
        if (random.below(4) == 0) {
            auto names = std::make_shared<ip::tcp::resolver>(first);
            names->async_resolve("127.0.0.1", "80", [names, end = once(t)](error_code, auto) mutable { end(); });
        }
    };
    everything();
    auto const dropped = t.dropped.load();
    bool const completes = run_everything(first, second, pool, t, random);
    t.expect(!completes || t.dropped == dropped);
}

} // namespace

int main(int argc, char** argv) {
    auto const seconds = argc > 1 ? std::atol(argv[1]) : 0;
    auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    auto const begun = std::chrono::steady_clock::now();
    std::uint64_t rounds = 0;
    tally all;
    do {
        round(seed, all);
        if (all.started != all.ended + all.dropped || all.wrong != 0) {
            std::printf("seed %llu: %llu started, %llu ended, %llu dropped, %llu wrong\n",
                        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(all.started),
                        static_cast<unsigned long long>(all.ended), static_cast<unsigned long long>(all.dropped),
                        static_cast<unsigned long long>(all.wrong));
            return 1;
        }
        ++seed;
        ++rounds;
    } while (seconds == 0 ? rounds != 20 : std::chrono::steady_clock::now() - begun < std::chrono::seconds(seconds));
    std::printf("%llu rounds: %llu operations ended, %llu went with their contexts, %llu bytes, %llu cancelled, "
                "%llu exceptions\n",
                static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(all.ended),
                static_cast<unsigned long long>(all.dropped), static_cast<unsigned long long>(all.bytes),
                static_cast<unsigned long long>(all.cancelled), static_cast<unsigned long long>(all.thrown));
}
