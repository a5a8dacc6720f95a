// A real fork: parent and child both go on, each with what is its own.
#include <fairlead/io/io_context.hpp>

#include <fairlead/base/config.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

// The thread sanitizer starts no threads after a fork. With the address sanitizer a thread that allocates during a fork
// leaves the child with a lock that nobody gives back.
#ifdef FAIRLEAD_ASAN
constexpr bool sanitizer_minds_threads = true;
#else
constexpr bool sanitizer_minds_threads = FAIRLEAD_TSAN;
#endif

using namespace fairlead;
using namespace std::chrono_literals;
using stream = local::stream_protocol::socket;

/// Runs `in_child` in a child that ends with it; true when it returned true there.
template <class F> bool child_succeeds(io_context& context, F in_child) {
    context.notify_fork(io_context::fork_prepare);
    pid_t const child = ::fork();
    if (child == 0) {
        bool good = false;
        try {
            context.notify_fork(io_context::fork_child);
            good = in_child();
        } catch (...) {
        }
        ::_exit(good ? 0 : 1);
    }
    context.notify_fork(io_context::fork_parent);
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Catalogue, S01_ChildAndParentGoOnWithTheirOwnSockets) {
    io_context context;
    stream parents(context), parents_peer(context), childs(context), childs_peer(context);
    local::connect_pair(parents, parents_peer);
    local::connect_pair(childs, childs_peer);
    std::array<char, 8> of_parents{}, of_childs{};
    std::size_t got_parents = 0, got_childs = 0;
    // Both wait before the fork, and are registered then.
    parents.async_read_some(buffer(of_parents), [&](error_code, std::size_t n) { got_parents = n; });
    childs.async_read_some(buffer(of_childs), [&](error_code, std::size_t n) { got_childs = n; });
    context.poll();

    EXPECT_TRUE(child_succeeds(context, [&] {
        // The child changes its registrations, and must not change the parent's.
        parents.close();
        parents_peer.close();
        context.poll();
        childs_peer.write_some(buffer("child", 5));
        while (got_childs == 0)
            context.run_one();
        return got_childs == 5;
    }));
    EXPECT_EQ(got_childs, 0U);
    context.restart();
    parents_peer.write_some(buffer("parent", 6));
    while (got_parents == 0)
        context.run_one();
    EXPECT_EQ(got_parents, 6U);
    childs_peer.write_some(buffer("again", 5));
    while (got_childs == 0)
        context.run_one();
    EXPECT_EQ(got_childs, 5U);
}

TEST(Catalogue, S01_AWriterThatWaitsForRoomGoesOnInTheChild) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::string const much(4'000'000, 'm'); // more than the system takes
    bool written = false;
    async_write(a, buffer(much), [&](error_code ec, std::size_t n) { written = !ec && n == much.size(); });
    context.poll();
    EXPECT_FALSE(written);
    EXPECT_TRUE(child_succeeds(context, [&] {
        std::string into(much.size(), ' ');
        async_read(b, buffer(into), [](error_code, std::size_t) {});
        context.restart();
        context.run_for(10s); // patience
        return written && into == much;
    }));
}

TEST(Catalogue, S01_TheChildHearsOfWhatWasReadyBeforeTheFork) {
    io_context context;
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::array<char, 8> bytes{};
    std::size_t got = 0;
    a.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got = n; });
    context.poll();
    b.write_some(buffer("early", 5)); // an edge that nobody has fetched yet
    EXPECT_TRUE(child_succeeds(context, [&] {
        context.run();
        return got == 5;
    }));
}

TEST(Catalogue, S01_WakingTheChildDoesNotWakeTheParent) {
    if (sanitizer_minds_threads)
        GTEST_SKIP() << "the sanitizer starts no threads after a fork, or has a lock that nobody gives back";
    io_context context;
    EXPECT_TRUE(child_succeeds(context, [&] {
        bool posted = false;
        auto guard = std::make_optional(make_work_guard(context));
        std::thread other([&] {
            post(context, [&] {
                posted = true;
                guard.reset();
            });
        });
        context.run();
        other.join();
        return posted;
    }));
    auto const before = context.counters().polls;
    steady_timer timer(context, 1ms);
    timer.async_wait([](error_code) {});
    context.run();
    EXPECT_EQ(context.counters().polls - before, 1U) << "the sleep until the timer, and nothing that ended it early";
}

TEST(Catalogue, N08_ALookUpIsRepeatedInTheChild) {
    if (sanitizer_minds_threads)
        GTEST_SKIP() << "the sanitizer starts no threads after a fork, or has a lock that nobody gives back";
    io_context context;
    ip::tcp::resolver resolver(context);
    bool found = false;
    resolver.async_resolve("localhost", "80",
                           [&](error_code ec, auto const& results) { found = !ec && !results.empty(); });
    EXPECT_TRUE(child_succeeds(context, [&] {
        context.run();
        bool const first = found;
        found = false;
        resolver.async_resolve("localhost", "80",
                               [&](error_code ec, auto const& results) { found = !ec && !results.empty(); });
        context.restart();
        context.run();
        return first && found;
    }));
    context.run();
    EXPECT_TRUE(found);
}

TEST(Catalogue, S01_InsideAHandlerTheChildGoesOnInTheSameRun) {
    io_context context;
    bool good = false, ran_on = false;
    post(context, [&] {
        good = child_succeeds(context, [&] {
            post(context, [&] { ran_on = true; });
            context.run(); // from inside run()
            return ran_on;
        });
    });
    context.run();
    EXPECT_TRUE(good);
}

TEST(Catalogue, S02_AForkWhileNamesAreLookedUpLeavesNoLockBehind) {
    if (sanitizer_minds_threads)
        GTEST_SKIP() << "the sanitizer starts no threads after a fork, or has a lock that nobody gives back";
    // The threads of the pool take and give back their lock all the time, and none of them is in the child.
    io_context context;
    ip::tcp::resolver resolver(context);
    int answered = 0;
    for (int round = 0; round != 20; ++round) {
        for (int i = 0; i != 8; ++i)
            resolver.async_resolve("localhost", "80", [&](error_code, auto const&) { ++answered; });
        EXPECT_TRUE(child_succeeds(context, [&] {
            context.run();
            return answered % 8 == 0;
        }));
        context.run();
        context.restart();
    }
    EXPECT_EQ(answered, 160);
}

TEST(Catalogue, S02_AForkThatNobodyAnnouncedLeavesNoLockBehind) {
    if (sanitizer_minds_threads)
        GTEST_SKIP() << "the sanitizer starts no threads after a fork, or has a lock that nobody gives back";
    io_context context;
    ip::tcp::resolver resolver(context);
    resolver.async_resolve("localhost", "80", [](error_code, auto const&) {});
    pid_t const child = ::fork();
    if (child == 0) {
        {
            io_context own; // with look-ups of its own, on threads of its own
            ip::tcp::resolver asks(own);
            asks.async_resolve("localhost", "80", [](error_code, auto const&) {});
            own.run();
        }
        ::_exit(0);
    }
    context.run();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
