// Names that Asio has in its own namespace for its inside's sake, through the headers that bring them there.
#include <asio/detail/bind_handler.hpp>
#include <asio/detail/mutex.hpp>
#include <asio/detail/thread.hpp>
#include <asio/detail/type_traits.hpp>
#include <asio/io_context_strand.hpp>
#include <asio/ip/multicast.hpp>
#include <asio/steady_timer.hpp>

#include <gtest/gtest.h>

#include <type_traits>

#include <netinet/in.h>

namespace {

static_assert(asio::is_same<asio::decay<int const&>::type, asio::decay_t<int const&>>::value);
static_assert(asio::is_same<asio::enable_if<true, int>::type, asio::enable_if_t<true, int>>::value);
static_assert(asio::is_convertible<char, int>::value && asio::is_base_of<asio::true_type, asio::true_type>::value);
static_assert(asio::is_constructible<int, int>::value && !asio::is_void<asio::nullptr_t>::value);
static_assert(asio::is_same<asio::conditional_t<true, int, char>, asio::remove_cvref_t<int const&>>::value);
static_assert(asio::is_same<asio::result_of<int (*(int))(int)>::type, asio::result_of_t<int (*(int))(int)>>::value);
static_assert(asio::is_same<asio::constraint_t<true>, int>::value);
static_assert(asio::is_same<asio::void_t<int>, asio::type_identity_t<void>>::value);
static_assert(alignof(asio::aligned_storage_t<3, 8>) == 8);
static_assert(sizeof(asio::uint64_t) == 8 && sizeof(asio::uint_least16_t) == 2);
static_assert(std::is_same_v<ASIO_REBIND_ALLOC(std::allocator<void>, int), std::allocator<int>>);
static_assert(ASIO_OS_DEF(AF_INET6) == AF_INET6 && ASIO_OS_DEF(IP_MULTICAST_TTL) == IP_MULTICAST_TTL);

} // namespace

// The inline namespace that Asio may have is opened and closed with macros, which programs write likewise.
namespace asio_program {
ASIO_INLINE_NAMESPACE_BEGIN
int made() { return 7; }
ASIO_INLINE_NAMESPACE_END
} // namespace asio_program

namespace {

TEST(CompatInside, W1_MacrosOfItsOwnSourceAreThere) {
    ASIO_ASSERT(asio_program::made() == 7);
    EXPECT_EQ(asio_program::made(), 7);
}

TEST(CompatInside, W1_CounterMutexAndThreadCountLockAndRun) {
    asio::detail::atomic_count count(1);
    asio::detail::increment(count, 2);
    asio::detail::decrement(count, 1);
    asio::detail::ref_count_up(count);
    EXPECT_EQ(count, 3);
    EXPECT_FALSE(asio::detail::ref_count_down(count));

    asio::detail::mutex mutex;
    {
        asio::detail::mutex::scoped_lock lock(mutex);
        EXPECT_TRUE(lock.locked());
        EXPECT_FALSE(asio::detail::thread([] {}).joinable() && mutex.try_lock());
        lock.unlock();
        EXPECT_TRUE(mutex.try_lock());
    }
    EXPECT_FALSE(mutex.try_lock()) << "a lock that was given up unlocks nothing";
    mutex.unlock();

    int ran = 0;
    asio::detail::thread thread([&] { ran = 1; });
    asio::detail::thread moved(std::move(thread));
    EXPECT_TRUE(moved.joinable());
    moved.join();
    EXPECT_FALSE(moved.joinable());
    EXPECT_EQ(ran, 1);
    asio::detail::thread never;
    EXPECT_FALSE(never.joinable());
}

struct allocating {
    using allocator_type = std::allocator<char>;
    allocator_type get_allocator() const noexcept { return {}; }
    int* sum;
    void operator()(int a, std::size_t b) const { *sum = a + static_cast<int>(b); }
};

TEST(CompatInside, W1_BoundHandlerIsCalledWithItsArgumentsAndPassesItsAssociationsOn) {
    int sum = 0;
    auto bound = asio::detail::bind_handler(allocating{&sum}, 3, std::size_t{4});
    static_assert(std::is_same_v<asio::associated_allocator_t<decltype(bound)>, std::allocator<char>>);
    bound();
    EXPECT_EQ(sum, 7);
    asio::detail::bind_handler(allocating{&sum}, 1, std::size_t{1})();
    EXPECT_EQ(sum, 2);

    asio::io_context context;
    asio::io_context::strand strand(context);
    asio::post(context, asio::detail::bind_handler(asio::bind_executor(strand,
                                                                       [&](int n) {
                                                                           sum = n;
                                                                           EXPECT_TRUE(strand.running_in_this_thread());
                                                                       }),
                                                   9));
    context.run();
    EXPECT_EQ(sum, 9);
}

} // namespace
