// Objects that move, are moved onto, or are only borrowed for a moment: more rows M of the failure catalogue.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dirent.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

constexpr std::uint64_t seeds = 30;

std::size_t open_descriptors() {
    std::size_t n = 0;
    DIR* const dir = ::opendir("/proc/self/fd");
    while (::readdir(dir))
        ++n;
    ::closedir(dir);
    return n;
}

// ---- frames

TEST(Catalogue, M01_NobodyHoldsTheHandleOfACoroutineThatRuns) {
    // These could destroy a frame whose operation is under way: a copy, a handle, an operation that is started twice.
    static_assert(!std::is_copy_constructible_v<awaitable<void>> && !std::is_copy_assignable_v<awaitable<void>>);
    static_assert(!std::is_convertible_v<awaitable<void>, std::coroutine_handle<>>);
    static_assert(!std::is_copy_constructible_v<async_op<void(error_code)>>);
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char byte = 0;
    auto body = [](local_socket& s, char& c) -> awaitable<void> { co_await s.async_read_some(buffer(&c, 1)); };
    {
        auto coroutine = body(a, byte);
        co_spawn(context, std::move(coroutine), detached);
        EXPECT_FALSE(coroutine.valid()) << "given away";
        context.poll(); // waits now
    }
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(byte, 'x');
}

// Disabled: the frame of a coroutine that is awaited belongs to the awaitable object, which its owner can destroy.
TEST(Catalogue, M01_AwaitableThatItsOwnerDestroysWhileItIsAwaitedTakesNothingAlong) {
    io_context context;
    bool done = false;
    std::optional<awaitable<void>> held;
    held.emplace([](io_context& c) -> awaitable<void> {
        steady_timer timer(c, 1ms);
        co_await timer.async_wait();
    }(context));
    co_spawn(
        context,
        [](std::optional<awaitable<void>>& h, bool& out) -> awaitable<void> {
            co_await std::move(*h);
            out = true;
        }(held, done),
        detached);
    context.poll();
    held.reset();
    context.run();
    EXPECT_TRUE(done);
}

// ---- objects with something under way

template <class Run> void moves_and_destroys_with_reads_pending(io_context& context, Run run) {
    auto a = std::make_unique<local_socket>(context);
    local_socket b(context);
    local::connect_pair(*a, b);
    char first[1], second[1]; // one byte: a simulated world cuts anything longer
    int read = 0, aborted = 0;
    auto const count = [&](error_code ec, std::size_t) { ++(ec == error::operation_aborted ? aborted : read); };
    a->async_read_some(buffer(first), count);
    local_socket moved(std::move(*a)); // the operation goes with it
    a.reset();
    b.async_write_some(buffer("x", 1), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
    run();
    EXPECT_EQ(read, 1);
    EXPECT_EQ(first[0], 'x');
    {
        local_socket again(std::move(moved));
        again.async_read_some(buffer(second), count);
        again.async_wait(socket_base::wait_read, [&](error_code ec) { count(ec, 0); });
    }
    run();
    EXPECT_EQ(read, 1);
    EXPECT_EQ(aborted, 2);
}

TEST(Catalogue, M03_MovedSocketTakesItsOperationsAlongAndADestroyedOneAbortsThem) {
    io_context context;
    moves_and_destroys_with_reads_pending(context, [&] {
        context.restart();
        context.run();
    });
}

TEST(Catalogue, M03_AlsoInSimulatedWorlds) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        moves_and_destroys_with_reads_pending(w.context(), [&] { w.run(); });
    }
}

TEST(Catalogue, M03_MovedAcceptorAndResolverTakeTheirOperationsAlong) {
    io_context context;
    auto acceptor = std::make_unique<tcp::acceptor>(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    auto resolver = std::make_unique<tcp::resolver>(context);
    int accepted = 0, found = 0;
    acceptor->async_accept([&](error_code ec, tcp::socket s) { accepted += !ec && s.is_open(); });
    resolver->async_resolve("localhost", "80", [&](error_code ec, auto results) { found += !ec && !results.empty(); });
    tcp::acceptor moved_acceptor(std::move(*acceptor));
    tcp::resolver const moved_resolver(std::move(*resolver));
    acceptor.reset();
    resolver.reset();
    tcp::socket client(context);
    client.async_connect(moved_acceptor.local_endpoint(), [](error_code ec) { EXPECT_FALSE(ec); });
    context.run();
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(found, 1);
}

// Disabled: an I/O object refers to its context by its address, and asks it to close the descriptor.
TEST(Catalogue, M05_ObjectThatOutlivesItsContextIsInert) {
    auto context = std::make_unique<io_context>();
    local_socket a(*context), b(*context);
    local::connect_pair(a, b);
    steady_timer timer(*context, 1h);
    tcp::resolver resolver(*context);
    redis::connection conn(*context);
    context.reset();
    error_code ec;
    a.cancel(ec);
    EXPECT_TRUE(ec);
    char byte;
    a.read_some(buffer(&byte, 1), ec);
    EXPECT_TRUE(ec);
    timer.cancel();
    resolver.cancel();
    conn.cancel();
}

TEST(Catalogue, M12_MoveAssignmentClosesWhatTheTargetHad) {
    io_context context;
    int aborted = 0;
    auto const count = [&](error_code ec, auto&&...) { aborted += ec == error::operation_aborted; };
    char bytes[4];
    auto const before = open_descriptors();
    {
        local_socket a(context), b(context), c(context), d(context);
        local::connect_pair(a, b);
        local::connect_pair(c, d);
        a.async_read_some(buffer(bytes), count);
        a = std::move(c);
        EXPECT_EQ(open_descriptors() - before, 3U) << "a has the descriptor of c";
        tcp::acceptor one(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        tcp::acceptor two(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        one.async_accept(count);
        one = std::move(two);
        EXPECT_EQ(open_descriptors() - before, 4U);
        steady_timer t(context, 1h), u(context, 1h);
        t.async_wait(count);
        t = std::move(u);
        d.async_write_some(buffer("abcd", 4), [](error_code, std::size_t) {});
        EXPECT_EQ(a.read_some(buffer(bytes)), 4U);
        context.run();
    }
    EXPECT_EQ(aborted, 3);
    EXPECT_EQ(open_descriptors(), before);
    tcp::resolver r(context), s(context);
    bool completed = false; // aborted, unless the answer was quicker
    r.async_resolve("a-name-that-nobody-has.invalid", "80", [&](error_code ec, auto) { completed = bool(ec); });
    r = std::move(s);
    context.restart();
    context.run();
    EXPECT_TRUE(completed);
    redis::connection x(context), y(context);
    x = std::move(y); // one of the two goes with y; the leak checker counts
    x.cancel();
}

// ---- arguments that are gone when the operation starts

awaitable<void> use_operations_made_of_temporaries(io_context& context, local_socket& a, local_socket& b, int& done) {
    // Each operation is made in one statement and started in another one: nothing of the first may be referred to.
    std::string text;
    auto reading = async_read_until(a, dynamic_buffer(text), std::string("a delimiter that is no small string"));
    auto gathering = async_write(b, std::vector<const_buffer>{buffer("and ", 4), buffer("a delimiter ", 12),
                                                              buffer("that is no ", 11), buffer("small string", 12)});
    EXPECT_EQ(co_await std::move(gathering), 39U);
    EXPECT_EQ(co_await std::move(reading), 39U);
    ++done;

    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    auto connecting = async_connect(client, std::vector<tcp::endpoint>{tcp::endpoint(
                                                ip::address_v4::loopback(), acceptor.local_endpoint().port())});
    auto const reached = co_await std::move(connecting);
    EXPECT_EQ(reached, acceptor.local_endpoint());
    ++done;

    tcp::resolver resolver(context);
    auto asking = resolver.async_resolve(std::string("localhost"), std::string("80"));
    auto const found = co_await std::move(asking);
    EXPECT_FALSE(found.empty());
    ++done;

    local_socket nobody(context);
    auto joining =
        nobody.async_connect(local::stream_protocol::endpoint(std::string("/no/such/path/anywhere")), as_tuple);
    auto const [ec] = co_await std::move(joining);
    EXPECT_EQ(ec, std::errc::no_such_file_or_directory);
    ++done;
}

TEST(Catalogue, M08_OperationsKeepNoReferenceToTheTemporariesTheyWereMadeOf) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    int done = 0;
    co_spawn(context, use_operations_made_of_temporaries(context, a, b, done),
             [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(done, 4);
}

TEST(Catalogue, M08_SpawnedFunctionLivesAsLongAsItsCoroutine) {
    io_context context;
    std::string got;
    co_spawn(
        context,
        [&got, kept = std::string("longer than any small string is")]() -> awaitable<void> {
            co_await this_coro::yield();
            got = kept;
        },
        detached);
    context.run();
    EXPECT_EQ(got, "longer than any small string is");
}

// ---- what compilers have got wrong

struct tracked {
    static inline int made = 0, gone = 0;
    std::string text;
    explicit tracked(std::string t) : text(std::move(t)) { ++made; }
    tracked(tracked const& o) : text(o.text) { ++made; }
    tracked(tracked&& o) noexcept : text(std::move(o.text)) { ++made; }
    tracked& operator=(tracked&&) = default;
    ~tracked() { ++gone; }
};

awaitable<std::pair<tracked, tracked>> two_values() {
    co_await this_coro::yield();
    co_return std::pair(tracked("the first value, on the heap"), tracked("the second value, on the heap"));
}

awaitable<void> bind_what_is_awaited(std::string& out) {
    {
        auto [a, b] = co_await two_values();
        co_await this_coro::yield();
        out = a.text + b.text;
    }
    co_await this_coro::yield();
    auto const& [c, d] = co_await two_values();
    co_await this_coro::yield();
    out += c.text + d.text;
}

/// An awaiter with something to destroy, made in the expression that awaits it.
struct owning_awaiter {
    std::shared_ptr<int> owned;
    explicit owning_awaiter(std::shared_ptr<int> p) noexcept : owned(std::move(p)) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    long await_resume() const noexcept { return owned.use_count(); }
};

awaitable<void> await_owners(std::shared_ptr<int> p, std::vector<long>& counts) {
    counts.push_back(co_await owning_awaiter(p));
    counts.push_back(p.use_count());
    counts.push_back(co_await owning_awaiter{p});
    counts.push_back(p.use_count());
}

TEST(Catalogue, M15_StructuredBindingsOfAnAwaitAreDestroyedOnce) {
    tracked::made = tracked::gone = 0;
    io_context context;
    std::string out;
    co_spawn(context, bind_what_is_awaited(out), [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(out.size(), 2 * (28U + 29U));
    EXPECT_GE(tracked::made, 4);
    EXPECT_EQ(tracked::made, tracked::gone) << "this compiler forgets a destructor, or calls one twice";
}

awaitable<void> fail_or_stay(bool fails) {
    co_await this_coro::yield();
    if (fails)
        throw std::runtime_error("the awaited one fails");
    steady_timer timer(co_await this_coro::executor, 1h);
    co_await timer.async_wait();
}

awaitable<void> hold_values_around(tracked argument, bool fails, int& caught) {
    tracked const before("before the await, on the heap");
    try {
        tracked const inside("inside the block, on the heap");
        std::optional<tracked> const perhaps(std::in_place, "perhaps a value, on the heap");
        auto awaited = fail_or_stay(fails);
        co_await std::move(awaited);
    } catch (std::runtime_error const&) {
        ++caught;
    }
    tracked const after("behind the await, on the heap");
    EXPECT_FALSE(argument.text.empty());
    co_await this_coro::yield();
}

TEST(Catalogue, M15_ValuesAroundAnAwaitThatFailsOrNeverEndsAreDestroyedOnce) {
    for (bool const fails : {true, false}) {
        tracked::made = tracked::gone = 0;
        int caught = 0;
        {
            io_context context;
            co_spawn(context, hold_values_around(tracked("an argument, on the heap"), fails, caught), detached);
            context.poll();
        }
        EXPECT_EQ(caught, fails);
        EXPECT_GE(tracked::made, fails ? 5 : 4);
        EXPECT_EQ(tracked::made, tracked::gone) << "this compiler forgets a destructor, or calls one twice: " << fails;
    }
}

TEST(Catalogue, M07_AwaitersWithAConstructorAreDestroyedOnce) {
    io_context context;
    auto const p = std::make_shared<int>(1);
    std::vector<long> counts;
    co_spawn(context, await_owners(p, counts), [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(counts, (std::vector<long>{counts[1] + 1, counts[1], counts[1] + 1, counts[1]}));
    EXPECT_EQ(p.use_count(), 1);
}

} // namespace
