// Cancelling at every moment and from everywhere: more rows C of the failure catalogue, and N01, I15.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

std::size_t entries_of(char const* path) {
    std::size_t n = 0;
    DIR* const dir = ::opendir(path);
    while (::readdir(dir))
        ++n;
    ::closedir(dir);
    return n - 2; // itself and its parent
}

// ---- C01, C03, C05: races

TEST(Catalogue, C01_CancelThatRacesWithArrivingBytesNeverLosesOne) {
    // In every world every byte is either delivered by the read that was cancelled, or still there for the next one.
    std::uint64_t delivered_late = 0, aborted = 0;
    for (std::uint64_t seed = 1; seed <= scaled(300, 50); ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& context = w.context();
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        std::string got;
        bool stop = false;
        co_spawn(
            context,
            [](local_socket& s, std::string& out, bool& end, std::uint64_t& cancelled,
               std::uint64_t& late) -> awaitable<void> {
                char bytes[8];
                while (!end) {
                    auto [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
                    out.append(bytes, n);
                    cancelled += ec == error::operation_aborted;
                    late += !ec;
                    end = ec == error::eof;
                }
            }(a, got, stop, aborted, delivered_late),
            detached);
        co_spawn(
            context,
            [](io_context& c, local_socket& s, local_socket& reader) -> awaitable<void> {
                steady_timer pause(c);
                for (char const letter : std::string("abcdefghijklmnopqrstuvwxyz")) {
                    co_await async_write(s, buffer(&letter, 1));
                    pause.expires_after(std::chrono::microseconds(letter % 5 * 10));
                    co_await pause.async_wait();
                    reader.cancel();
                }
                s.close();
            }(context, b, a),
            [](std::exception_ptr e) { EXPECT_FALSE(e); });
        w.run();
        EXPECT_EQ(got, "abcdefghijklmnopqrstuvwxyz");
    }
    EXPECT_GT(aborted, 0U);
    EXPECT_GT(delivered_late, 0U);
}

TEST(Catalogue, C03_CancelFromAnotherThreadCompletesEachOperationOnce) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    auto guard = make_work_guard(context);
    std::atomic<std::uint64_t> completed{0};
    std::atomic<bool> reading{false};
    char bytes[4];
    std::thread runner([&] { context.run(); });
    auto const rounds = scaled(2000, 100);
    for (std::uint64_t i = 0; i != rounds; ++i) {
        reading = false;
        post(context, [&] {
            a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) {
                EXPECT_EQ(ec, error::operation_aborted);
                ++completed;
            });
            reading = true;
        });
        while (!reading)
            std::this_thread::yield();
        a.cancel();
        if (i % 2)
            a.cancel(); // twice, perhaps after it has completed
        while (completed != i + 1)
            std::this_thread::yield();
    }
    guard.reset();
    runner.join();
    EXPECT_EQ(completed, rounds);
}

TEST(Catalogue, C05_TimeoutCancelAndCompletionAtOneInstantMakeOneCompletion) {
    // Three timers at the same instant: one is the time-out, one the user who gives up, one lets the peer answer. Each
    // world puts them in an order of its own.
    int by_timeout = 0, by_user = 0, with_data = 0;
    for (std::uint64_t seed = 1; seed <= scaled(400, 100); ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& context = w.context();
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        char bytes[4];
        int completions = 0;
        error_code why;
        std::string order;
        a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t n) {
            ++completions;
            why = ec;
            EXPECT_EQ(n, ec ? 0U : 1U);
            order += 'r';
        });
        auto const instant = w.now() + 1ms;
        steady_timer timeout(context, instant), user(context, instant), peer(context, instant);
        timeout.async_wait([&](error_code) {
            order += 't';
            a.cancel();
        });
        user.async_wait([&](error_code) {
            order += 'u';
            a.cancel();
        });
        peer.async_wait([&](error_code) {
            order += 'p';
            b.async_write_some(buffer("x", 1), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
        });
        w.run();
        EXPECT_EQ(completions, 1);
        if (why) {
            EXPECT_EQ(why, error::operation_aborted);
            ++(order.find('t') < order.find('u') ? by_timeout : by_user);
            a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t n) {
                EXPECT_FALSE(ec);
                EXPECT_EQ(n, 1U) << "the byte was dropped with the read that was cancelled";
            });
            w.run();
        } else {
            ++with_data;
        }
    }
    EXPECT_GT(by_timeout, 0);
    EXPECT_GT(by_user, 0);
    EXPECT_EQ(with_data + by_timeout + by_user, static_cast<int>(scaled(400, 100)));
}

// ---- C04: whole transfers

TEST(Catalogue, C04_CancelledWholeWriteTellsWhatThePeerGets) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::string much(8 << 20, ' ');
    for (std::size_t i = 0; i != much.size(); ++i)
        much[i] = static_cast<char>('a' + i % 23);
    std::size_t written = 0;
    error_code why;
    async_write(a, buffer(much), [&](error_code ec, std::size_t n) {
        why = ec;
        written = n;
    });
    context.poll();
    EXPECT_FALSE(why);
    a.cancel();
    context.run();
    EXPECT_EQ(why, error::operation_aborted);
    EXPECT_GT(written, 0U);
    EXPECT_LT(written, much.size());
    a.close();
    std::string got(much.size(), ' ');
    std::size_t read = 0;
    error_code end;
    while (!end)
        read += b.read_some(buffer(got) + read, end);
    EXPECT_EQ(end, error::eof);
    EXPECT_EQ(read, written) << "what was reported is what arrived";
    EXPECT_EQ(got.substr(0, read), much.substr(0, read));
}

TEST(Catalogue, C04_CancelledReadUntilLeavesWhatItHadReadInTheBuffer) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::string text;
    error_code why;
    std::size_t n = 9;
    async_read_until(a, dynamic_buffer(text), '\n', [&](error_code ec, std::size_t k) {
        why = ec;
        n = k;
    });
    b.write_some(buffer("half a l", 8));
    context.poll();
    a.cancel();
    context.run();
    EXPECT_EQ(why, error::operation_aborted);
    EXPECT_EQ(n, 0U);
    EXPECT_EQ(text, "half a l");
    b.write_some(buffer("ine\nrest", 8));
    async_read_until(a, dynamic_buffer(text), '\n', [&](error_code ec, std::size_t k) {
        why = ec;
        n = k;
    });
    context.restart();
    context.run();
    EXPECT_FALSE(why);
    EXPECT_EQ(text.substr(0, n), "half a line\n");
}

// ---- C08

TEST(Catalogue, C08_TheLoserOfARaceHasGivenItsBufferBackAndItsBytesArrive) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        tcp::acceptor acceptor(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        static constexpr int sent = 200;
        struct coroutine {
            static awaitable<void> send(sim::world& world, tcp::acceptor& a) {
                tcp::socket s = co_await a.async_accept();
                steady_timer pause(world.context());
                for (int i = 0; i != sent; ++i) {
                    auto const byte = static_cast<char>(i);
                    co_await async_write(s, buffer(&byte, 1));
                    pause.expires_after(std::chrono::microseconds(i * 7 % 50));
                    co_await pause.async_wait();
                }
            }
            static awaitable<void> receive(sim::world& world, tcp::endpoint from, std::string& received, int& races) {
                tcp::socket s(world.context());
                co_await s.async_connect(from);
                steady_timer limit(world.context());
                std::array<char, 64> theirs{};
                for (bool open = true; open; ++races) {
                    limit.expires_after(std::chrono::microseconds(races * 11 % 60));
                    auto won = co_await when_any(limit.async_wait(), s.async_read_some(buffer(theirs), as_tuple));
                    if (auto& read = won.get<1>()) {
                        auto const [ec, n] = read.value();
                        received.append(theirs.data(), n);
                        open = !ec || ec == error::operation_aborted;
                    }
                    // From here on the bytes are ours again: nobody may write to them.
                    theirs.fill('-');
                    limit.expires_after(60us);
                    co_await limit.async_wait();
                    EXPECT_EQ(theirs[0], '-');
                }
            }
        };
        std::string received;
        int races = 0;
        co_spawn(w.context(), coroutine::send(w, acceptor), detached);
        co_spawn(w.context(), coroutine::receive(w, acceptor.local_endpoint(), received, races),
                 [](std::exception_ptr e) { EXPECT_FALSE(e); });
        w.run();
        ASSERT_EQ(received.size(), static_cast<std::size_t>(sent));
        for (int i = 0; i != sent; ++i)
            EXPECT_EQ(received[static_cast<std::size_t>(i)], static_cast<char>(i));
        EXPECT_GT(races, 2);
    }
}

// ---- C06, C07, C09, C10

/// An acceptor that takes nobody any more: its queue is full, so whoever connects waits.
struct full_acceptor {
    explicit full_acceptor(io_context& c) : acceptor(c, tcp::v4()) {
        acceptor.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
        acceptor.listen(0);
        first.push_back(std::make_unique<tcp::socket>(c));
        first.back()->connect(acceptor.local_endpoint());
    }
    tcp::acceptor acceptor;
    std::vector<std::unique_ptr<tcp::socket>> first;
};

TEST(Catalogue, C06_CancelledConnectClosesItsDescriptorAndLeavesNothingHalfOpen) {
    io_context context;
    full_acceptor full(context);
    auto const before = entries_of("/proc/self/fd");
    {
        tcp::socket s(context);
        error_code why;
        s.async_connect(full.acceptor.local_endpoint(), [&](error_code ec) { why = ec; });
        context.poll();
        ASSERT_FALSE(why) << "it was to wait";
        s.cancel();
        context.restart();
        context.run();
        EXPECT_EQ(why, error::operation_aborted);
    }
    EXPECT_EQ(entries_of("/proc/self/fd"), before);
    full.acceptor.accept();
    full.acceptor.non_blocking(true);
    error_code ec;
    full.acceptor.accept(ec);
    EXPECT_EQ(ec, error::would_block) << "nobody but the first is in the queue";
}

TEST(Catalogue, C06_ClosedConnectCompletesOnceInEverySimulatedWorld) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        tcp::acceptor acceptor(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        int completed = 0, accepted = 0, ended = 0;
        auto s = std::make_unique<tcp::socket>(w.context());
        char byte;
        tcp::socket peer(w.context());
        s->async_connect(acceptor.local_endpoint(), [&](error_code) { ++completed; });
        acceptor.async_accept(peer, [&](error_code ec) {
            accepted += !ec;
            if (!ec)
                peer.async_read_some(buffer(&byte, 1),
                                     [&](error_code e, std::size_t) { ended += static_cast<bool>(e); });
        });
        steady_timer timer(w.context(), std::chrono::microseconds(seed));
        timer.async_wait([&](error_code) { s.reset(); });
        steady_timer end(w.context(), 1s);
        end.async_wait([&](error_code) { acceptor.close(); });
        w.run();
        EXPECT_EQ(completed, 1);
        EXPECT_EQ(ended, accepted) << "what was accepted all the same has come to its end";
    }
}

TEST(Catalogue, C07_CancelledAcceptDeliversTheConnectionOrLeavesItForTheNext) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        tcp::acceptor acceptor(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        tcp::socket client(w.context());
        int delivered = 0, aborted = 0;
        auto const take = [&](error_code ec, tcp::socket s) {
            delivered += !ec && s.is_open();
            aborted += ec == error::operation_aborted;
        };
        acceptor.async_accept(take);
        client.async_connect(acceptor.local_endpoint(), [](error_code ec) { EXPECT_FALSE(ec); });
        steady_timer timer(w.context(), std::chrono::microseconds(seed));
        timer.async_wait([&](error_code) { acceptor.cancel(); });
        w.run();
        EXPECT_EQ(delivered + aborted, 1);
        if (aborted) {
            acceptor.async_accept(take);
            w.run();
        }
        EXPECT_EQ(delivered, 1);
    }
}

TEST(Catalogue, C09_CancellingWhileTheContextIsDestroyedIsHarmless) {
    io_context* context = new io_context;
    struct object {
        local_socket a, b;
        steady_timer timer;
        tcp::resolver resolver;
        tcp::acceptor acceptor;
        char byte = 0;
        explicit object(io_context& c)
            : a(c),
              b(c),
              timer(c, 1h),
              resolver(c),
              acceptor(c, tcp::endpoint(ip::address_v4::loopback(), 0)) {
            local::connect_pair(a, b);
        }
        ~object() { cancel(); }
        void cancel() {
            error_code ec;
            a.cancel(ec);
            timer.cancel();
            resolver.cancel();
            acceptor.cancel(ec);
        }
    };
    auto const o = std::make_shared<object>(*context);
    int called = 0;
    // Each handler keeps the object: the last one that is given up cancels what the others began.
    o->a.async_read_some(buffer(&o->byte, 1), [o, &called](error_code, std::size_t) { ++called; });
    o->timer.async_wait([o, &called](error_code) { ++called; });
    o->resolver.async_resolve("a-name-that-nobody-has.invalid", "80", [o, &called](error_code, auto) { ++called; });
    o->acceptor.async_accept([o, &called](error_code, tcp::socket) { ++called; });
    post(*context, [o, &called] { ++called; });
    std::weak_ptr<object> const watch = o;
    const_cast<std::shared_ptr<object>&>(o).reset();
    EXPECT_FALSE(watch.expired());
    delete context;
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(called, 0);
}

TEST(Catalogue, C10_CancellingByAnOldHandleDoesNotReachTheNextTenantOfItsDescriptor) {
    io_context context;
    local_socket a(context), b(context), c(context), d(context);
    local::connect_pair(a, b);
    int const old_fd = a.native_handle();
    struct core : local_socket {
        static io::handle of(local_socket& s) { return s.core().handle; }
    };
    io::handle const old = core::of(a);
    a.close();
    b.close();
    local::connect_pair(c, d);
    auto& again = c.native_handle() == old_fd ? c : d;
    ASSERT_EQ(again.native_handle(), old_fd) << "the system gives the lowest number first";
    char byte;
    error_code why;
    bool done = false;
    again.async_read_some(buffer(&byte, 1), [&](error_code ec, std::size_t) {
        why = ec;
        done = true;
    });
    EXPECT_EQ(context.as_loop().cancel(old), 0U);
    EXPECT_NE(context.as_loop().close(old).error, 0);
    context.poll();
    EXPECT_FALSE(done);
    (&again == &c ? d : c).write_some(buffer("x", 1));
    context.run();
    EXPECT_TRUE(done);
    EXPECT_FALSE(why);
}

// ---- C14, N01, N02: look-ups cannot be interrupted

/// Whether a look-up of a name that nobody has takes a while: without a network it fails at once.
bool looks_up_slowly() {
    io_context context;
    tcp::resolver resolver(context);
    auto least = std::chrono::steady_clock::duration::max();
    for (int i = 0; i != 5; ++i) {
        auto const begun = std::chrono::steady_clock::now();
        error_code ec;
        resolver.resolve("nobody.invalid", "80", ec);
        auto const took = std::chrono::steady_clock::now() - begun;
        least = std::min(least, took);
        if (took > std::chrono::milliseconds(100)) // longer than a busy computer pauses anybody: a server was asked
            break;
    }
    return least > std::chrono::microseconds(100);
}

TEST(Catalogue, C14_N01_CancelledLookUpsCompleteAtOnceAndTakeFewThreads) {
    std::thread([] {}).join(); // A thread sanitizer has one of its own from the first thread on.
    auto const threads_before = entries_of("/proc/self/task");
    io_context context;
    int aborted = 0, others = 0;
    constexpr int look_ups = 200;
    {
        std::vector<std::unique_ptr<tcp::resolver>> resolvers;
        for (int i = 0; i != look_ups; ++i) {
            resolvers.push_back(std::make_unique<tcp::resolver>(context));
            resolvers.back()->async_resolve("nobody-" + std::to_string(i) + ".invalid", "80", [&](error_code ec, auto) {
                ++(ec == error::operation_aborted ? aborted : others);
            });
        }
        EXPECT_LE(entries_of("/proc/self/task"), threads_before + 4);
        for (auto& r : resolvers)
            r->cancel();
        context.run(); // does not wait for a name server that may be slow
    }
    EXPECT_EQ(aborted + others, look_ups);
    if (looks_up_slowly()) {
        EXPECT_GT(aborted, look_ups / 2);
    }

    // Where no network is, a look-up fails at once: one that is to be found under way is cancelled as soon as it is
    // started.
    aborted = others = 0;
    context.restart();
    tcp::resolver resolver(context);
    for (int i = 0; i != look_ups; ++i) {
        resolver.async_resolve("nobody-" + std::to_string(i) + ".invalid", "80",
                               [&](error_code ec, auto) { ++(ec == error::operation_aborted ? aborted : others); });
        resolver.cancel();
    }
    context.run();
    EXPECT_EQ(aborted + others, look_ups);
    EXPECT_GT(aborted, 0) << "each was done before it could be cancelled";
}

TEST(Catalogue, C14_X5_LookUpHearsItsSlotAndItsLimit) {
    sim::world w(1, "look_up_delay=1024");
    auto& context = w.context();
    tcp::resolver resolver(context);
    cancellation_signal signal;
    std::vector<std::string> ends;
    auto const begun = w.now();
    auto const end_of = [&](char const* which) {
        return [&, which](error_code ec, auto) {
            EXPECT_EQ(ec, error::operation_aborted) << which;
            ends.push_back(which + std::to_string((w.now() - begun) / 1ms));
        };
    };
    resolver.async_resolve("one.example", "80", bind_cancellation_slot(signal.slot(), end_of("slot ")));
    resolver.async_resolve("two.example", "80", cancel_after(100ms, end_of("limit ")));
    resolver.async_resolve(tcp::endpoint(ip::address_v4::broadcast(), 1), cancel_after(200ms, end_of("name ")));
    error_code of_another;
    resolver.async_resolve("three.example", "80", [&](error_code ec, auto) { of_another = ec; });
    steady_timer timer(context, 50ms);
    timer.async_wait([&](error_code) { signal.emit(cancellation_type::total); });
    w.run();
    EXPECT_EQ(ends, (std::vector<std::string>{"slot 50", "limit 100", "name 200"}));
    EXPECT_EQ(of_another, error::host_not_found) << "the others go on";
}

TEST(Catalogue, C14_X5_LookUpThatAnotherThreadAsksToEndEndsOnce) {
    io_context context;
    tcp::resolver resolver(context);
    int ended = 0, aborted = 0;
    std::uint64_t const look_ups = test::scaled(2'000, 200);
    std::array<cancellation_signal, 8> signals;
    auto work = make_work_guard(context);
    std::thread other([&] {
        for (std::uint64_t i = 0; i != 4 * look_ups; ++i)
            signals[i % signals.size()].emit(cancellation_type::terminal);
        work.reset();
    });
    // Each look-up after the one before on the same signal: its slot is asked at any time, also before the start.
    std::function<void(std::size_t)> look_up = [&](std::size_t chain) {
        resolver.async_resolve("127.0.0.1", "80",
                               bind_cancellation_slot(signals[chain].slot(), [&, chain](error_code ec, auto) {
                                   EXPECT_TRUE(!ec || ec == error::operation_aborted) << ec.message();
                                   aborted += ec == error::operation_aborted;
                                   if (++ended + static_cast<int>(signals.size()) <= static_cast<int>(look_ups))
                                       look_up(chain);
                               }));
    };
    for (std::size_t chain = 0; chain != signals.size(); ++chain)
        look_up(chain);
    context.run();
    other.join();
    EXPECT_EQ(ended, static_cast<int>(look_ups));
}

TEST(Catalogue, C14_X5_LookUpIsFoundUnderWayByItsSlot) {
    io_context context;
    auto work = make_work_guard(context);
    tcp::resolver resolver(context);
    cancellation_signal signal;
    int aborted = 0, others = 0;
    constexpr int look_ups = 50;
    for (int i = 0; i != look_ups; ++i) {
        resolver.async_resolve("nobody-" + std::to_string(i) + ".invalid", "80",
                               bind_cancellation_slot(signal.slot(), [&](error_code ec, auto) {
                                   ++(ec == error::operation_aborted ? aborted : others);
                               }));
        signal.emit(cancellation_type::total);
        context.poll();
    }
    work.reset();
    context.run();
    EXPECT_EQ(aborted + others, look_ups);
    EXPECT_GT(aborted, 0) << "each was done before it could be asked";
}

TEST(Catalogue, N02_DeadlineOverALookUpAndAConnectHoldsInEverySimulatedWorld) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& context = w.context();
        tcp::resolver resolver(context);
        tcp::socket socket(context);
        bool ended = false;
        tcp::acceptor nobody(context, tcp::v4());
        nobody.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
        nobody.listen(0);
        tcp::socket first(context), second(context);
        auto const at = nobody.local_endpoint();
        first.async_connect(at, [](error_code) {});
        second.async_connect(at, [](error_code) {});
        co_spawn(
            context,
            [](tcp::resolver& r, tcp::socket& s, std::string port, bool& out) -> awaitable<void> {
                auto found = co_await r.async_resolve("localhost", port, as_tuple);
                if (!std::get<0>(found))
                    co_await async_connect(s, std::get<1>(found), as_tuple);
                out = true;
            }(resolver, socket, std::to_string(at.port()), ended),
            detached);
        steady_timer deadline(context, 2s);
        deadline.async_wait([&](error_code) {
            resolver.cancel();
            error_code ignored;
            socket.close(ignored);
            post(context, [&] { post(context, [&] { nobody.close(); }); });
        });
        w.run();
        EXPECT_TRUE(ended);
        EXPECT_LT(w.now(), steady_clock::time_point(1s) + 60s);
    }
}

// ---- I15

TEST(Catalogue, I15_TotalDeadlineEndsAReadThatSlowBytesKeepAlive) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& context = w.context();
        local_socket a(context), b(context);
        local::connect_pair(a, b);
        error_code why;
        std::string text;
        steady_clock::time_point ended;
        auto const begin = w.now();
        async_read_until(a, dynamic_buffer(text), '\n', [&](error_code ec, std::size_t) {
            why = ec;
            ended = w.now();
        });
        steady_timer deadline(context, 10s);
        deadline.async_wait([&](error_code) { a.close(); });
        co_spawn(
            context,
            [](io_context& c, local_socket& s) -> awaitable<void> {
                steady_timer second(c);
                for (int i = 0; i != 60; ++i) {
                    auto [ec, n] = co_await s.async_write_some(buffer("x", 1), as_tuple);
                    if (ec)
                        co_return;
                    second.expires_after(1s);
                    co_await second.async_wait();
                }
            }(context, b),
            detached);
        w.run();
        EXPECT_EQ(why, error::operation_aborted);
        EXPECT_GE(ended, begin + 10s);
        EXPECT_LT(ended, begin + 10s + 100ms);
        EXPECT_GE(text.size(), 5U);
        EXPECT_LE(text.size(), 11U);
    }
}

} // namespace
