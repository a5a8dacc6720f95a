#include <fairlead/legacy/ts_members.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/legacy/inline_or_executor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <support/counting_allocator.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace fairlead;
using test::account;
using test::counting_allocator;
using loop_place = io_context::executor_type;
using pool_place = thread_pool::executor_type;

static_assert(is_executor<loop_place>::value && is_executor<pool_place>::value && is_executor<system_executor>::value);
static_assert(is_executor<strand<loop_place>>::value && is_executor<inline_or_executor<loop_place>>::value);
static_assert(!is_executor<inline_executor>::value && !is_executor<int>::value);
static_assert(sizeof(loop_place) == sizeof(void*) && std::is_trivially_copyable_v<loop_place>);
static_assert(sizeof(pool_place) == sizeof(void*) && sizeof(any_io_executor) == 32);
static_assert(sizeof(strand<loop_place>) == 2 * sizeof(void*));
static_assert(!uses_executor<std::string, loop_place>::value);

TEST(TsMembers, OfALoopPostAndDeferQueueAndDispatchRunsWhereItMay) {
    io_context context;
    auto const place = context.get_executor();
    std::allocator<void> const memory;
    std::string log;
    place.post([&log] { log += 'p'; }, memory);
    place.defer([&log] { log += 'd'; }, memory);
    place.dispatch(
        [&] {
            log += '(';
            place.dispatch([&log] { log += 'i'; }, memory);
            place.post([&log] { log += 'q'; }, memory);
            log += ')';
        },
        memory);
    EXPECT_EQ(log, "");
    context.run();
    EXPECT_EQ(log, "pd(i)q");
}

TEST(TsMembers, FunctionsAreKeptInTheMemoryThatIsGiven) {
    io_context context;
    account books;
    int live_inside = -1;
    auto own = std::make_unique<int>(7);
    context.get_executor().post([&, own = std::move(own)] { live_inside = books.live + *own; },
                                counting_allocator<int>(&books));
    EXPECT_EQ(books.live, 1);
    context.run();
    EXPECT_EQ(live_inside, 7) << "given back before the call";
    EXPECT_EQ(books.taken, 1);
}

TEST(TsMembers, OfStrandsInlineExecutorsAndTheSystem) {
    io_context context;
    strand<loop_place> const one(context.get_executor());
    std::allocator<void> const memory;
    std::string log;
    one.dispatch(
        [&] {
            one.dispatch([&log] { log += 'a'; }, memory);
            one.post([&log] { log += 'b'; }, memory);
            log += 'c';
        },
        memory);
    auto const here = inline_or(context);
    here.dispatch([&log] { log += '1'; }, memory);
    here.post([&log] { log += '2'; }, memory);
    EXPECT_EQ(log, "1");
    context.run();
    EXPECT_EQ(log.size(), 5U);
    EXPECT_LT(log.find('a'), log.find('c'));
    EXPECT_LT(log.find('c'), log.find('b'));
    system_executor().dispatch([&log] { log = "at once"; }, memory);
    EXPECT_EQ(log, "at once");
}

TEST(TsMembers, OfAPoolTheyRunInItsThreads) {
    thread_pool pool(1);
    auto const place = pool.get_executor();
    std::allocator<void> const memory;
    std::promise<std::thread::id> posted, nested;
    place.post([&posted] { posted.set_value(std::this_thread::get_id()); }, memory);
    place.dispatch([&] { place.dispatch([&nested] { nested.set_value(std::this_thread::get_id()); }, memory); },
                   memory);
    auto const id = posted.get_future().get();
    EXPECT_NE(id, std::this_thread::get_id());
    EXPECT_EQ(nested.get_future().get(), id);
    pool.join();
}

/// A context and an executor of a user's, written for the Networking TS: there is no execute().
class old_context : public execution_context {
public:
    class executor_type {
    public:
        explicit executor_type(old_context& c) noexcept : context_(&c) {}
        old_context& context() const noexcept { return *context_; }
        void on_work_started() const noexcept { ++context_->work; }
        void on_work_finished() const noexcept { --context_->work; }
        template <class F, class Allocator> void dispatch(F f, Allocator const& a) const { post(std::move(f), a); }
        template <class F, class Allocator> void post(F f, Allocator const&) const {
            auto const kept = std::make_shared<F>(std::move(f));
            context_->queue.emplace_back([kept] { std::move (*kept)(); });
        }
        template <class F, class Allocator> void defer(F f, Allocator const& a) const { post(std::move(f), a); }
        friend bool operator==(executor_type a, executor_type b) noexcept { return a.context_ == b.context_; }

    private:
        old_context* context_;
    };
    old_context() = default;
    ~old_context() override {
        shutdown();
        destroy();
    }
    executor_type get_executor() noexcept { return executor_type(*this); }
    void run() {
        while (!queue.empty()) {
            auto const f = std::move(queue.front());
            queue.pop_front();
            f();
        }
    }

    std::deque<std::function<void()>> queue;
    int work = 0;
};
using old_place = old_context::executor_type;
static_assert(io_executor<old_place> && is_executor<old_place>::value);

TEST(TsMembers, ExecutorsOfUsersThatHaveNothingElseRunHandlers) {
    io_context context;
    old_context old;
    std::string log;
    steady_timer timer(context, std::chrono::seconds(0));
    timer.async_wait(bind_executor(old.get_executor(), [&log](error_code) { log += 't'; }));
    EXPECT_EQ(old.work, 1) << "a handler is on its way";
    context.run();
    EXPECT_EQ(log, "");
    old.run();
    EXPECT_EQ(log, "t");
    EXPECT_EQ(old.work, 0);

    post(old, [&log] { log += 'p'; });
    dispatch(old.get_executor(), [&log] { log += 'd'; });
    any_io_executor const any = old.get_executor();
    EXPECT_EQ(&any.context(), &old);
    any.execute([&log] { log += 'a'; });
    post(make_strand(old), [&log] { log += 's'; });
    EXPECT_EQ(log, "t");
    old.run();
    EXPECT_EQ(log, "tpdas");
}

TEST(TsMembers, ExecutorsOfUsersThatHaveNothingElseRunCoroutines) {
    old_context old;
    std::string log;
    auto const body = [](std::string& to) -> awaitable<void> {
        to += '1';
        co_await post(co_await this_coro::executor);
        to += '2';
    };
    co_spawn(old, body(log), [&log](std::exception_ptr e) { log += e ? '!' : '3'; });
    old.run();
    EXPECT_EQ(log, "123");
    EXPECT_EQ(old.work, 0);
}

} // namespace
