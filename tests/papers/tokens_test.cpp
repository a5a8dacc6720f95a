// P0162R0 §2.1 and §2.2, P0055R1: what users may write as tokens, handlers, allocators and operations.
#include "support/one_block.hpp"

#include <papers/emulated_os.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <fairlead/verbs.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using test::one_block;
using test::one_block_allocator;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

} // namespace

namespace paper {

// ---- a token of the form of P0162R0: handler and result are two classes

struct promise_token {};

/// The result of an operation with such a token: filled in later.
template <class... Args> struct outcome {
    std::shared_ptr<std::optional<std::tuple<Args...>>> values;
};
template <class... Args> struct outcome_handler {
    std::shared_ptr<std::optional<std::tuple<Args...>>> values = std::make_shared<std::optional<std::tuple<Args...>>>();
    explicit outcome_handler(promise_token) {}
    void operator()(Args... args) { values->emplace(std::move(args)...); }
};

// ---- a token of the modern form: one static function

struct log_token {
    std::vector<std::string>* log;
};

// ---- a token by one overload of completion_token_transform

struct count_token {
    int* started;
    int* completed;
};
struct count_handler {
    int* completed;
    template <class... Args> void operator()(Args&&...) { ++*completed; }
};
template <completion_signature Signature, class Invoker>
int completion_token_transform(count_token t, Invoker invoker) {
    std::move(invoker)(count_handler{t.completed});
    return ++*t.started;
}

} // namespace paper

template <class R, class... Args> class fairlead::async_result<paper::promise_token, R(Args...)> {
public:
    using completion_handler_type = paper::outcome_handler<std::decay_t<Args>...>;
    using return_type = paper::outcome<std::decay_t<Args>...>;
    explicit async_result(completion_handler_type& handler) : result_{handler.values} {}
    async_result(async_result const&) = delete;
    return_type get() { return result_; }

private:
    return_type result_;
};

template <class Signature> class fairlead::async_result<paper::log_token, Signature> {
public:
    template <class Initiation, class... Args>
    static std::size_t initiate(Initiation&& initiation, paper::log_token token, Args&&... args) {
        token.log->push_back("started");
        std::forward<Initiation>(initiation)([log = token.log](auto&&...) { log->push_back("completed"); },
                                             std::forward<Args>(args)...);
        return token.log->size();
    }
};

namespace {

struct socket_pair {
    socket_pair() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    local_socket a, b;
    char bytes[64] = {};
};

// ---- A1: the initiating function in the paper's form, body by the library

struct paper_socket {
    local_socket& socket;

    template <class MutableBufferSequence, class CompletionToken> auto
    async_receive(MutableBufferSequence const& buffers, socket_base::message_flags flags, CompletionToken&& token) {
        return socket.async_receive(buffers, flags, std::forward<CompletionToken>(token));
    }
};

TEST(Papers, A01_InitiatingFunctionHasThePapersForm) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    paper_socket s{a};
    std::size_t got = 0;
    s.async_receive(buffer(bytes), 0, [&](error_code, std::size_t n) { got = n; });
    auto future = s.async_receive(buffer(bytes), 0, use_future);
    b.write_some(buffer("x", 1));
    context.poll();
    b.write_some(buffer("yz", 2));
    context.run();
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(future.get(), 2U);
    // Arguments between buffers and token are passed on.
    b.write_some(buffer("w", 1));
    s.async_receive(buffer(bytes), socket_base::message_peek, [&](error_code, std::size_t n) { got = n; });
    context.restart();
    context.run();
    EXPECT_EQ(got, 1U);
    EXPECT_EQ(a.available(), 1U) << "a peek takes nothing";
}

TEST(Papers, A03_UsersAsyncResultDrivesLibraryOperations) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    auto const read = a.async_read_some(buffer(bytes), paper::promise_token{});
    static_assert(std::is_same_v<decltype(read), paper::outcome<error_code, std::size_t> const>);
    auto const written = async_write(b, buffer("xyz", 3), paper::promise_token{});
    steady_timer timer(context, 0s);
    auto const waited = timer.async_wait(paper::promise_token{});
    auto const posted = post(context, paper::promise_token{});
    EXPECT_FALSE(read.values->has_value());
    context.run();
    EXPECT_EQ(**read.values, std::tuple(error_code(), std::size_t{3}));
    EXPECT_EQ(**written.values, std::tuple(error_code(), std::size_t{3}));
    EXPECT_EQ(**waited.values, std::tuple(error_code()));
    EXPECT_TRUE(posted.values->has_value());
}

TEST(Papers, A03_UsersModernAsyncResultDrivesLibraryOperations) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::vector<std::string> log;
    EXPECT_EQ(b.async_write_some(buffer("x", 1), paper::log_token{&log}), 1U);
    context.run();
    EXPECT_EQ(log, (std::vector<std::string>{"started", "completed"}));
}

// ---- A4, A5: the two bodies of the paper, for an operation of the user

std::optional<std::function<void(error_code, std::size_t)>> started;
template <class Handler> void do_something_to_call(Handler handler) {
    auto kept = std::make_shared<Handler>(std::move(handler));
    started = [kept](error_code ec, std::size_t n) { std::move (*kept)(ec, n); };
}

template <class MutableBufferSequence, class CompletionToken>
typename async_result<std::decay_t<CompletionToken>, void(error_code, std::size_t)>::return_type
async_receive_long(MutableBufferSequence const&, CompletionToken&& token) {
    typename async_result<std::decay_t<CompletionToken>, void(error_code, std::size_t)>::completion_handler_type
        completion_handler(std::forward<CompletionToken>(token));
    async_result<std::decay_t<CompletionToken>, void(error_code, std::size_t)> result(completion_handler);
    do_something_to_call(std::move(completion_handler));
    return result.get();
}

TEST(Papers, A04_LongFormCanBeWrittenByUsers) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    auto const r = async_receive_long(buffer(bytes), paper::promise_token{});
    (*started)(error::eof, 4);
    EXPECT_EQ(**r.values, std::tuple(error_code(error::eof), std::size_t{4}));
}

TEST(Papers, A04_LongFormTakesTheLibrarysTokens) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    auto future = async_receive_long(buffer(bytes), use_future);
    (*started)(error_code(), 4);
    EXPECT_EQ(future.get(), 4U);
    std::size_t got = 0;
    async_receive_long(buffer(bytes), [&got](error_code, std::size_t n) { got = n; });
    (*started)(error_code(), 5);
    EXPECT_EQ(got, 5U);
    async_receive_long(buffer(bytes), detached);
    (*started)(error_code(), 6);
}

template <class MutableBufferSequence, class CompletionToken>
auto async_receive_short(MutableBufferSequence const&, CompletionToken&& token) {
    async_completion<CompletionToken, void(error_code, std::size_t)> init(token);
    do_something_to_call(std::move(init.completion_handler));
    return init.result.get();
}

TEST(Papers, A05_AsyncCompletionIsTheShortForm) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    auto const r = async_receive_short(buffer(bytes), paper::promise_token{});
    (*started)(error::eof, 4);
    EXPECT_EQ(**r.values, std::tuple(error_code(error::eof), std::size_t{4}));
    static_assert(std::is_same_v<async_completion<paper::promise_token, void(error_code, std::size_t)>::return_type,
                                 paper::outcome<error_code, std::size_t>>);
}

TEST(Papers, A05_AsyncCompletionTakesCallbacks) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::size_t got = 0;
    async_receive_short(buffer(bytes), [&got, p = std::make_unique<int>()](error_code, std::size_t n) { got = n; });
    (*started)(error_code(), 5);
    EXPECT_EQ(got, 5U);
}

// ---- A6 to A12: handlers and their allocators

TEST(Papers, A06_HandlersMayBeMoveOnly) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    int sum = 0;
    auto const handler = [&sum] { return [&sum, p = std::make_unique<int>(1)](auto&&...) { sum += *p; }; };
    a.async_read_some(buffer(bytes), handler());
    async_write(b, buffer("x", 1), handler());
    steady_timer timer(context, 0s);
    timer.async_wait(handler());
    post(context, handler());
    dispatch(context, handler());
    co_spawn(context, []() -> awaitable<void> { co_return; }(), handler());
    context.run();
    EXPECT_EQ(sum, 6);
}

/// The paper's handler: the members are found with no specialisation of any trait.
struct my_completion_handler {
    typedef one_block_allocator<void> allocator_type;
    allocator_type get_allocator() const noexcept { return allocator_type(memory); }
    void operator()(error_code, std::size_t = 0) { ++*calls; }
    one_block* memory;
    int* calls;
};

TEST(Papers, A07_MembersOfTheHandlerNameItsAllocator) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    static_assert(std::is_same_v<associated_allocator_t<my_completion_handler>, one_block_allocator<void>>);
    one_block memory;
    int calls = 0;
    a.async_read_some(buffer(bytes), my_completion_handler{&memory, &calls});
    EXPECT_TRUE(memory.taken);
    b.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(memory.taken);
}

struct foreign_handler {
    one_block* memory;
    int* calls;
    void operator()(error_code, std::size_t) { ++*calls; }
};

} // namespace

template <class Default> struct fairlead::associated_allocator<foreign_handler, Default> {
    using type = one_block_allocator<void>;
    static type get(foreign_handler const& h) noexcept { return type(h.memory); }
    static type get(foreign_handler const& h, Default const&) noexcept { return type(h.memory); }
};

namespace {

TEST(Papers, A08_TraitCanBeSpecialisedForAForeignType) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    one_block memory;
    int calls = 0;
    b.async_write_some(buffer("x", 1), foreign_handler{&memory, &calls});
    EXPECT_EQ(memory.times, 1U);
    context.run();
    EXPECT_EQ(calls, 1);
    // and through an adapter
    b.async_write_some(buffer("x", 1), bind_executor(context, foreign_handler{&memory, &calls}));
    EXPECT_EQ(memory.times, 2U);
    context.restart();
    context.run();
    EXPECT_EQ(calls, 2);
}

/// An allocator that can also be made of nothing, and then is another one.
struct numbered_allocator {
    int number = 0;
};

TEST(Papers, A09_BothFormsOfGetAssociatedAllocator) {
    auto plain = [] {};
    static_assert(std::is_same_v<decltype(get_associated_allocator(plain)), std::allocator<void>>);
    one_block memory;
    static_assert(std::is_same_v<decltype(get_associated_allocator(plain, one_block_allocator<void>(&memory))),
                                 one_block_allocator<void>>);
    EXPECT_EQ(get_associated_allocator(plain, numbered_allocator{7}).number, 7) << "the fallback itself, not another";
    int calls = 0;
    my_completion_handler const own{&memory, &calls};
    EXPECT_EQ(get_associated_allocator(own).memory, &memory);
    EXPECT_EQ(get_associated_allocator(own, std::allocator<void>()).memory, &memory);
}

/// A chain of operations, each started by the handler of the one before.
template <class Start> struct chain {
    typedef one_block_allocator<void> allocator_type;
    allocator_type get_allocator() const noexcept { return allocator_type(memory); }
    one_block* memory;
    std::uint64_t* left;
    Start start;
    template <class... Args> void operator()(Args&&...) {
        if (memory->taken)
            throw std::logic_error("the memory was not given back before the handler ran");
        if (--*left)
            start(chain(*this));
    }
};
template <class Start> void run_chain(io_context& context, std::uint64_t n, Start start) {
    one_block memory;
    std::uint64_t left = n;
    start(chain<Start>{&memory, &left, start});
    context.restart();
    context.run();
    EXPECT_EQ(left, 0U);
    EXPECT_GE(memory.times, n);
}

TEST(Papers, A11_MemoryIsGivenBackBeforeTheHandlerRunsInEveryOperation) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    constexpr std::uint64_t n = 100; // what a UNIX socket holds of small writes
    run_chain(context, n, [&](auto h) { post(context, std::move(h)); });
    run_chain(context, n, [&](auto h) { defer(any_io_executor(context.get_executor()), std::move(h)); });
    steady_timer timer(context, 0s);
    run_chain(context, n, [&](auto h) { timer.async_wait(std::move(h)); });
    run_chain(context, n, [&](auto h) { b.async_write_some(buffer("x", 1), std::move(h)); });
    run_chain(context, n, [&](auto h) { a.async_read_some(buffer(bytes, 1), std::move(h)); });
    run_chain(context, n, [&](auto h) { async_write(b, buffer("xy", 2), std::move(h)); });
    run_chain(context, n, [&](auto h) { async_read(a, buffer(bytes, 2), std::move(h)); });
    run_chain(context, n, [&](auto h) { async_write(b, buffer("xyz\n", 4), transfer_at_least(3), std::move(h)); });
    std::string text;
    run_chain(context, n, [&](auto h) {
        text.clear();
        async_read_until(a, dynamic_buffer(text, 4), '\n', std::move(h));
    });
    run_chain(context, n, [&](auto h) { a.async_wait(socket_base::wait_write, std::move(h)); });
}

TEST(Papers, A11_SteppingThroughAnotherExecutorUsesTheSameBlockInTurn) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    io_context other;
    one_block memory;
    int calls = 0;
    b.async_write_some(buffer("x", 1), bind_executor(other, my_completion_handler{&memory, &calls}));
    context.run();
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(memory.taken) << "holds the handler on its way to its executor";
    other.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(memory.times, 2U);
}

/// The library's default memory, with a note of each block that an operation takes.
template <class T> struct noting_allocator {
    using value_type = T;
    std::vector<void const*>* taken;
    explicit noting_allocator(std::vector<void const*>* t) noexcept : taken(t) {}
    template <class U> noting_allocator(noting_allocator<U> const& o) noexcept : taken(o.taken) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        T* const p = recycling_allocator<T>().allocate(n);
        taken->push_back(p);
        return p;
    }
    void deallocate(T* p, std::size_t n) noexcept
        requires(!std::is_void_v<T>)
    {
        recycling_allocator<T>().deallocate(p, n);
    }
    template <class U> bool operator==(noting_allocator<U> const& o) const noexcept { return taken == o.taken; }
};
struct chain_of_writes {
    using allocator_type = noting_allocator<void>;
    socket_pair* test;
    std::vector<void const*>* taken;
    allocator_type get_allocator() const noexcept { return allocator_type(taken); }
    void operator()(error_code, std::size_t) {
        if (taken->size() != 100)
            test->b.async_write_some(buffer("x", 1), chain_of_writes(*this));
    }
};

TEST(Papers, A12_SameMemoryServesTheNextOperationForEver) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::vector<void const*> taken;
    taken.reserve(100);
    b.async_write_some(buffer("x", 1), chain_of_writes{&pair, &taken});
    auto const fresh = this_thread_recycler_counters().fresh;
    context.run();
    ASSERT_EQ(taken.size(), 100U) << "blocks that the operations themselves took";
    for (auto const* p : taken)
        EXPECT_EQ(p, taken.front());
    EXPECT_EQ(this_thread_recycler_counters().fresh, fresh) << "nothing from operator new once the chain has begun";
}

// ---- A15, A16: an operation that inherits nothing and needs memory of run-time size

/// Completes with the sum of numbers that it copies into a container of its own.
template <class Token> auto async_sum(io_context& c, std::vector<int> const& numbers, Token&& token) {
    return async_initiate<Token, void(int)>(
        [&c](auto handler, std::vector<int> const& in) {
            auto const allocator = get_associated_allocator(handler);
            using number_allocator =
                typename std::allocator_traits<std::decay_t<decltype(allocator)>>::template rebind_alloc<int>;
            std::vector<int, number_allocator> own(in.begin(), in.end(), number_allocator(allocator));
            int sum = 0;
            for (int const n : own)
                sum += n;
            own = std::vector<int, number_allocator>(number_allocator(allocator)); // given back before the handler runs
            own.shrink_to_fit();
            post(c, [h = std::move(handler), sum]() mutable { std::move(h)(sum); });
        },
        token, numbers);
}

/// Another one that looks entirely different inside: it holds more than an async_op has space for.
template <class Token> auto async_sum_of_its_own(io_context& c, Token&& token) {
    std::array<int, 50> own;
    own.fill(4);
    return async_initiate<Token, void(int)>(
        [&c, own](auto handler) {
            int sum = 0;
            for (int const n : own)
                sum += n;
            post(c, [h = std::move(handler), sum]() mutable { std::move(h)(sum); });
        },
        token);
}

TEST(Papers, A15_OperationsThatLookDifferentInsideAreAwaitedAlike) {
    io_context context;
    std::vector<int> const numbers(100, 2);
    int sum = 0;
    co_spawn(
        context,
        [](io_context& c, std::vector<int> const& v, int& out) -> awaitable<void> {
            out += co_await async_sum(c, v, use_await);
            out += co_await async_sum_of_its_own(c, use_await);
            auto op = async_sum_of_its_own(c, deferred);
            auto moved = std::move(op);
            out += co_await std::move(moved);
        }(context, numbers, sum),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(sum, 600);
}

TEST(Papers, A15_A16_OperationMayInheritNothingAndAllocateAtRunTime) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::vector<int> const numbers(100, 2);
    int got = 0;
    async_sum(context, numbers, [&](int n) { got = n; });
    auto future = async_sum(context, numbers, use_future);
    co_spawn(
        context,
        [](io_context& c, std::vector<int> const& v) -> awaitable<void> {
            EXPECT_EQ(co_await async_sum(c, v, use_await), 200);
            auto [n] = co_await async_sum(c, v, as_tuple);
            EXPECT_EQ(n, 200);
            EXPECT_EQ(co_await async_sum(c, v, deferred), 200);
        }(context, numbers),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(got, 200);
    EXPECT_EQ(future.get(), 200);
}

// ---- B: P0055R1's async_xyz over the emulated os_xyz, in one line

struct os_op : os::OsContext {
    void (*done)(os_op*, os::OsResultType);
};
void os_callback(os::OsResultType r, os::OsContext* o) { static_cast<os_op*>(o)->done(static_cast<os_op*>(o), r); }

template <class Handler> struct os_handler : os_op {
    Handler handler;
    explicit os_handler(Handler&& h) : handler(std::move(h)) {
        done = [](os_op* o, os::OsResultType r) {
            std::unique_ptr<os_handler> me(static_cast<os_handler*>(o));
            auto h2 = std::move(me->handler);
            me.reset(); // before the call: the next operation takes the same block
            std::move(h2)(r);
        };
    }
};
template <class Handler> void async_xyz_impl_raw(os::ParamType p, Handler handler) {
    auto o = std::make_unique<os_handler<Handler>>(std::move(handler));
    os::os_xyz(p, o.get());
    o.release();
}

template <class Token = use_await_t> auto async_xyz(os::ParamType p, Token&& token = {}) {
    return completion_token_transform<void(os::OsResultType)>(
        std::forward<Token>(token), [=](auto handler) { async_xyz_impl_raw(p, std::move(handler)); });
}

/// Runs what the emulated system has queued.
void run_os() {
    while (os::os_trigger_completion()) {
    }
}
struct os_world {
    os_world() { os::os_associate_completion_callback(&os_callback); }
    io_context context;
};

TEST(Papers, B01_B18_UserOperationInOneLineTakesEveryToken) {
    os_world world;
    auto& context = world.context;
    int got = 0;
    async_xyz(1, [&](os::OsResultType r) { got = r; });
    run_os();
    EXPECT_EQ(got, 1);

    auto future = async_xyz(2, use_future);
    run_os();
    EXPECT_EQ(future.get(), 2);

    async_xyz(3, detached);
    EXPECT_EQ(os::the_os().queue.size(), 1U) << "started, though nobody hears of its end";
    run_os();

    async_xyz(4, deferred)([&](os::OsResultType r) { got = r; });
    run_os();
    EXPECT_EQ(got, 4);

    co_spawn(
        context,
        []() -> awaitable<void> {
            EXPECT_EQ(co_await async_xyz(5), 5);
            auto [r] = co_await async_xyz(6, as_tuple);
            EXPECT_EQ(r, 6);
        },
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    while (!context.stopped()) {
        context.poll();
        run_os();
    }
}

TEST(Papers, B01_UserTokenByOneOverloadWorksForEveryOperation) {
    os_world world;
    auto& context = world.context;
    int started_count = 0, completed = 0;
    paper::count_token const token{&started_count, &completed};
    EXPECT_EQ(async_xyz(1, token), 1);
    run_os();
    EXPECT_EQ(completed, 1);
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    EXPECT_EQ(b.async_write_some(buffer("x", 1), token), 2);
    EXPECT_EQ(async_write(b, buffer("x", 1), token), 3);
    steady_timer timer(context, 0s);
    EXPECT_EQ(timer.async_wait(token), 4);
    EXPECT_EQ(post(context, token), 5);
    EXPECT_EQ(co_spawn(context, []() -> awaitable<void> { co_return; }(), token), 6);
    context.run();
    EXPECT_EQ(completed, 6);
}

TEST(Papers, B03_InvokerThatThrowsLeaksNothing) {
    os_world world;
    auto& context = world.context;
    auto watched = std::make_shared<int>();
    auto const broken = [](auto&& token) {
        return completion_token_transform<void(int)>(std::forward<decltype(token)>(token), [](auto handler) -> void {
            [[maybe_unused]] auto const kept = std::move(handler);
            throw std::runtime_error("start");
        });
    };
    EXPECT_THROW(broken([watched](int) {}), std::runtime_error);
    EXPECT_THROW(broken(use_future), std::runtime_error);
    EXPECT_THROW(broken(detached), std::runtime_error);
    EXPECT_THROW(broken(deferred)([watched](int) {}), std::runtime_error);
    EXPECT_EQ(watched.use_count(), 1);
    int caught = 0;
    co_spawn(
        context,
        [](auto op, int& n) -> awaitable<void> {
            try {
                co_await op(use_await);
            } catch (std::runtime_error const&) {
                ++n;
            }
        }(broken, caught),
        detached);
    context.run();
    EXPECT_EQ(caught, 1);
}

TEST(Papers, B07_OperationStartsOnlyWhenItsContinuationIsThere) {
    os_world world;
    {
        auto op = async_xyz(1);
        EXPECT_TRUE(os::the_os().queue.empty());
        auto moved = std::move(op);
        EXPECT_TRUE(os::the_os().queue.empty());
    }
    EXPECT_FALSE(os::os_trigger_completion()) << "destroyed unstarted it never starts";
}

TEST(Papers, B08_B10_OperationThatFitsIsNoexceptToMakeAndHasADefaultToken) {
    os_world world;
    auto& context = world.context;
    local_socket s(context);
    static_assert(noexcept(s.async_read_some(buffer(static_cast<void*>(nullptr), 0), use_await)));
    static_assert(noexcept(s.async_read_some(buffer(static_cast<void*>(nullptr), 0))));
    static_assert(std::is_same_v<decltype(async_xyz(1)), decltype(async_xyz(1, use_await))>);
}

TEST(Papers, B12_B17_FiveCallFormsOnOneVerb) {
    os_world world;
    auto& context = world.context;
    using verbs::receive;
    using verbs::send;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char in[8];
    EXPECT_EQ(send(b, buffer("1", 1), block), 1U);
    error_code ec = error::eof;
    EXPECT_EQ(send(b, buffer("2", 1), block[ec]), 1U);
    EXPECT_FALSE(ec);
    std::size_t by_callback = 0;
    send(b, buffer("3", 1), [&](error_code, std::size_t n) { by_callback = n; });
    auto future = send(b, buffer("4", 1), use_future);
    co_spawn(
        context,
        [](local_socket& from, local_socket& to) -> awaitable<void> {
            EXPECT_EQ(co_await send(from, buffer("5", 1)), 1U);
            char all[8];
            EXPECT_EQ(co_await verbs::read(to, buffer(all, 5)), 5U);
            EXPECT_EQ(std::string_view(all, 5), "12345");
            static_assert(noexcept(receive(to, buffer(all))));
        }(b, a),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(by_callback, 1U);
    EXPECT_EQ(future.get(), 1U);
    EXPECT_EQ(b.write_some(buffer("6", 1)), 1U);
    EXPECT_EQ(receive(a, buffer(in), block), 1U);
}

} // namespace

// ---- B19: a coroutine that returns a std::future. The traits live in tests; no library header has them.

template <class... Args> struct std::coroutine_traits<std::future<void>, Args...> {
    struct promise_type {
        std::promise<void> promise;
        std::future<void> get_return_object() { return promise.get_future(); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() { promise.set_value(); }
        void unhandled_exception() { promise.set_exception(std::current_exception()); }
    };
};

namespace {

std::future<void> paper_loop(int n, int& sum) {
    for (int i = 0; i <= n; ++i)
        sum += co_await async_xyz(1);
}

TEST(Papers, B19_CoroutineOfAnotherLibraryAwaitsAUserOperation) {
    os_world world;
    int sum = 0;
    auto const future = paper_loop(1000, sum);
    run_os();
    EXPECT_EQ(sum, 1001);
    EXPECT_EQ(future.wait_for(0s), std::future_status::ready);
}

std::future<void> foreign_echo(local_socket& in, local_socket& out, std::string& got) {
    char c[4];
    co_await async_write(out, buffer("abcd", 4));
    auto const n = co_await in.async_read_some(buffer(c));
    got.assign(c, n);
    auto [closed, none] = co_await in.async_read_some(buffer(c), as_tuple);
    EXPECT_EQ(closed, error::eof);
    EXPECT_EQ(none, 0U);
}

TEST(Papers, B19_CoroutineOfAnotherLibraryAwaitsLibraryOperations) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::string got;
    auto future = foreign_echo(a, b, got);
    context.poll();
    context.restart();
    EXPECT_EQ(got, "abcd");
    b.close();
    context.run();
    EXPECT_NO_THROW(future.get());
}

TEST(Papers, B19_ForeignCoroutineIsDestroyedWithItsContext) {
    auto watched = std::make_shared<int>();
    std::future<void> future;
    {
        io_context other;
        auto const waits = [](io_context& c, std::shared_ptr<int>) -> std::future<void> {
            steady_timer timer(c, 1h);
            co_await timer.async_wait();
        };
        future = waits(other, watched);
        other.poll();
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_EQ(watched.use_count(), 1);
    ASSERT_EQ(future.wait_for(0s), std::future_status::ready) << "its promise went with the frame";
    EXPECT_THROW(future.get(), std::future_error);
}

/// A composed operation that names no executor, over a library operation.
template <class Token = use_await_t> auto async_write_one(local_socket& s, Token&& token = {}) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token), [&s](auto handler) { s.async_write_some(buffer("x", 1), std::move(handler)); });
}

std::future<void> foreign_composed(local_socket& s, std::size_t& n) { n = co_await async_write_one(s); }

TEST(Papers, B19_ForeignCoroutineAwaitsAComposedUserOperation) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::size_t n = 0;
    auto const future = foreign_composed(b, n);
    context.run();
    EXPECT_EQ(n, 1U);
}

std::future<void> foreign_redirected(local_socket& s, error_code& ec) {
    co_await s.async_write_some(buffer("x", 1), redirect_error(ec));
}

TEST(Papers, B19_ForeignCoroutineAwaitsAnAdaptedOperation) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    error_code ec = error::eof;
    auto const future = foreign_redirected(b, ec);
    context.run();
    EXPECT_FALSE(ec);
}

TEST(Papers, B19_CoroutineOfOursAwaitsAComposedUserOperation) {
    socket_pair pair;
    auto& [context, a, b, bytes] = pair;
    std::size_t n = 0;
    co_spawn(
        context, [](local_socket& s, std::size_t& out) -> awaitable<void> { out = co_await async_write_one(s); }(b, n),
        detached);
    context.run();
    EXPECT_EQ(n, 1U);
}

} // namespace
