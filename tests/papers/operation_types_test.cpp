// The types of every operation with every token: rows A2, A20, A23 and B8, and the list for readers. Nothing of it
// depends on how a compiler optimises or instruments, so it is compiled without either.
#include <papers/every_operation.hpp>

#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using namespace fairlead;
using namespace fairlead::test::every_operation;

template <class A, class B, class Token> constexpr bool same_result() {
    static_assert(std::is_same_v<result_of<A, Token>, result_of<B, Token>>);
    static_assert(std::is_same_v<decltype(either<A, B>(true, std::declval<world&>(), std::declval<Token>())),
                                 std::decay_t<result_of<A, Token>>>);
    return true;
}

template <class A, class B> constexpr bool same_for_every_token() {
    return same_result<A, B, use_await_t>() && same_result<A, B, deferred_t>() && same_result<A, B, detached_t>() &&
           same_result<A, B, use_future_t<>>() && same_result<A, B, callback>() &&
           same_result<A, B, move_only_callback>() && same_result<A, B, as_tuple_t<use_await_t>>() &&
           same_result<A, B, as_tuple_t<tuple_callback>>() && same_result<A, B, as_tuple_t<use_future_t<>>>() &&
           same_result<A, B, executor_binder<use_await_t, any_io_executor>>() &&
           same_result<A, B, executor_binder<callback, any_io_executor>>() &&
           same_result<A, B, allocator_binder<use_await_t, std::allocator<void>>>() &&
           same_result<A, B, allocator_binder<callback, std::allocator<void>>>();
}
template <class A, class B> constexpr bool same_for_adapters_of_errors() {
    if constexpr (has_error<typename A::signature>)
        return same_result<A, B, redirect_error_t<use_await_t>>() && same_result<A, B, redirect_error_t<callback>>();
    else
        return true;
}

/// The first operation of the list that has the signature of `Op`. To be the same type is transitive, so it stands for
/// all of them.
template <class Op, class First, class... Rest>
constexpr auto first_like(std::type_identity<std::tuple<First, Rest...>>) {
    if constexpr (std::is_same_v<typename Op::signature, typename First::signature>)
        return std::type_identity<First>();
    else
        return first_like<Op>(std::type_identity<std::tuple<Rest...>>());
}

TEST(Papers, A02_A20_ResultTypeDependsOnSignatureAndTokenAlone) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        using first = typename decltype(first_like<Op>(std::type_identity<operations>()))::type;
        static_assert(same_for_every_token<first, Op>());
        static_assert(same_for_adapters_of_errors<first, Op>());
    });
}

TEST(Papers, A23_SizeAndTypeOfAnOperationAreIndependentOfItsInside) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        static_assert(std::is_same_v<result_of<Op, use_await_t>, async_op<typename Op::signature>>);
        static_assert(sizeof(result_of<Op, use_await_t>) == sizeof(async_op<void()>));
        static_assert(std::is_nothrow_move_constructible_v<result_of<Op, use_await_t>>);
    });
    static_assert(sizeof(async_op<void()>) <= 64);
}

template <class Op> inline constexpr bool takes_no_request =
    std::is_same_v<Op, post_op> || std::is_same_v<Op, defer_op> || std::is_same_v<Op, dispatch_op> ||
    std::is_same_v<Op, immediate_op>;

/// Those tokens keep something for the operation, and the result has space for it. It is the same one everywhere.
TEST(Papers, A20_ResultTypeWithALimitASlotOrAStopTokenDependsOnSignatureAndTokenAlone) {
    using limit = decltype(cancel_after(std::chrono::hours(1)));
    using slot = decltype(bind_cancellation_slot(cancellation_slot()));
    using stop = decltype(bind_stop_token(std::stop_token()));
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        if constexpr (!takes_no_request<Op>) {
            using result = result_of<Op, limit>;
            static_assert(std::is_same_v<result, async_op<typename Op::signature, result::storage_size>>);
            static_assert(std::is_same_v<result, result_of<Op, slot>> && std::is_same_v<result, result_of<Op, stop>>);
            static_assert(sizeof(result) == sizeof(async_op<void(), result::storage_size>));
            static_assert(std::is_convertible_v<result, async_op<typename Op::signature>>);
        }
    });
}

template <class Op> inline constexpr bool is_post = std::is_same_v<Op, post_op> || std::is_same_v<Op, defer_op>;

template <class Op, class Token> inline constexpr bool starts_nothrow =
    noexcept(Op::start(std::declval<world&>(), std::declval<Token>()));

TEST(Papers, B08_NoexceptIsExactlyAsPromised) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        if constexpr (!is_post<Op>) { // below
            static_assert(starts_nothrow<Op, use_await_t const&> == Op::nothrow);
            static_assert(starts_nothrow<Op, deferred_t const&> == Op::nothrow);
            static_assert(!starts_nothrow<Op, use_future_t<> const&>);
            static_assert(!starts_nothrow<Op, callback>);
        }
    });
}

/// Nor do copies of arguments throw: those of lists of buffers and of delimiters.
TEST(Papers, B08_InitiatingFunctionsThatCopyTheirArgumentsAreNoexcept) {
    using world_in_use = world&;
    auto const w = []() noexcept -> world_in_use { std::abort(); };
    std::array<mutable_buffer, 2> const two;
    EXPECT_TRUE(noexcept(w().a.async_read_some(two, use_await)));
    EXPECT_TRUE(noexcept(w().a.async_send(two, use_await)));
    EXPECT_TRUE(noexcept(w().datagrams.async_receive(two, use_await)));
    EXPECT_TRUE(noexcept(w().datagrams.async_receive_from(two, w().sender, use_await)));
    EXPECT_TRUE(noexcept(w().datagrams.async_send_to(two, w().self, use_await)));
    EXPECT_TRUE(noexcept(w().packets.async_receive(two, w().flags, use_await)));
    EXPECT_TRUE(noexcept(async_read(w().a, two, use_await)));
    EXPECT_TRUE(noexcept(async_write(w().a, two, transfer_at_least(2), use_await)));
    EXPECT_TRUE(noexcept(async_read_until(w().a, dynamic_buffer(w().text), std::string_view("\n"), use_await)));
}

/// Objects of the program's that throw when they are copied.
TEST(Papers, B08_CopyOfAProgramsObjectMayThrow) {
    auto const w = []() noexcept -> world& { std::abort(); };
    std::vector<tcp::endpoint> const many;
    EXPECT_FALSE(noexcept(async_connect(w().client, many, use_await)));
}

TEST(Papers, B08_PostIsNoexceptAsPromised) {
    EXPECT_TRUE(noexcept(post_op::start(std::declval<world&>(), use_await)));
    EXPECT_TRUE(noexcept(defer_op::start(std::declval<world&>(), use_await)));
}

// ---- the list

struct row {
    std::string name, header, signature, expression, nothrow;
    friend bool operator==(row const&, row const&) = default;
    friend std::ostream& operator<<(std::ostream& out, row const& r) {
        return out << r.name << '\t' << r.header << '\t' << r.signature << '\t' << r.expression << '\t' << r.nothrow;
    }
};

TEST(Papers, OperationsTsvListsExactlyTheOperationsTestedHere) {
    std::vector<row> tested;
    auto const add = [&](char const* name, char const* header, char const* signature, char const* expression,
                         bool nothrow) {
        tested.push_back({name, std::string("fairlead/") += header, signature, expression, nothrow ? "yes" : "no"});
    };
    for_each_operation(
        [&]<class Op>(std::type_identity<Op>) { add(Op::name, Op::header, Op::text, Op::expression, Op::nothrow); });
    std::ifstream file(FAIRLEAD_SOURCE_DIR "/tests/operations.tsv");
    ASSERT_TRUE(file);
    std::vector<row> listed;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        row r;
        std::size_t at = 0;
        for (auto* const field : {&r.name, &r.header, &r.signature, &r.expression, &r.nothrow}) {
            auto const end = line.find('\t', at);
            *field = line.substr(at, end - at);
            at = end == std::string::npos ? line.size() : end + 1;
        }
        listed.push_back(r);
    }
    EXPECT_EQ(listed, tested);
}

} // namespace
