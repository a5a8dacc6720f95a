// make_parallel_group: several operations at once, with any token, as Asio's programs use it. In a coroutine when_all()
// and when_any() need no block.
//
// The operations share one block, which has the handler, the results, and a signal for each of them. It goes with the
// last of their handlers, and then calls its own. The start counts as one more, so that nobody is the last before all
// have been started.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/async_operation.hpp>
#include <fairlead/operation/compose.hpp>
#include <fairlead/operation/request_relay.hpp>
#include <fairlead/token/cancellation_condition.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead {
namespace impl::token {

template <class Op> using values_of_operation = operation::values_of<completion_signature_of_t<Op>>;

/// A fixed number of operations.
template <class... Ops> class tuple_of_operations {
public:
    static constexpr std::size_t size() noexcept { return sizeof...(Ops); }
    using order = std::array<std::size_t, sizeof...(Ops)>;
    using values =
        decltype(std::tuple_cat(std::declval<std::tuple<order>>(), std::declval<values_of_operation<Ops>>()...));

    explicit tuple_of_operations(std::tuple<Ops...>&& ops) : ops_(std::move(ops)) {}
    template <class F> void for_each(F f) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (f(std::integral_constant<std::size_t, I>(), std::get<I>(ops_)), ...);
        }(std::index_sequence_for<Ops...>());
    }

    /// The values of the operations, and the order in which they ended.
    class results {
    public:
        explicit results(tuple_of_operations const&) {}
        cancellation_signal& signal(std::size_t i) noexcept { return signals_[i]; }
        std::size_t& order(std::size_t at) noexcept { return order_[at]; }
        template <std::size_t I, class Values> void keep(std::integral_constant<std::size_t, I>, Values&& v) {
            std::get<I>(kept_).emplace(std::forward<Values>(v));
        }
        values take() {
            return std::apply(
                [this](auto&... kept) { return std::tuple_cat(std::tuple<order_type>(order_), *std::move(kept)...); },
                kept_);
        }

    private:
        using order_type = std::array<std::size_t, sizeof...(Ops)>;
        std::array<cancellation_signal, sizeof...(Ops)> signals_;
        order_type order_{};
        std::tuple<std::optional<values_of_operation<Ops>>...> kept_;
    };

private:
    std::tuple<Ops...> ops_;
};

template <class Allocator, class T> using vector_with =
    std::vector<T, typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;
template <class Allocator, class Values> struct vectors_of;
template <class Allocator, class... T> struct vectors_of<Allocator, std::tuple<T...>> {
    using type = std::tuple<vector_with<Allocator, std::size_t>, vector_with<Allocator, T>...>;
};

/// As many operations as a range has, all of one type.
template <class Range, class Allocator> class range_of_operations {
public:
    using op = std::decay_t<decltype(*std::declval<Range&>().begin())>;
    using values = typename vectors_of<Allocator, values_of_operation<op>>::type;

    range_of_operations(Range&& ops, Allocator const& a) : ops_(std::move(ops)), allocator_(a) {
        for (auto i = ops_.begin(); i != ops_.end(); ++i)
            ++size_;
    }
    std::size_t size() const noexcept { return size_; }
    template <class F> void for_each(F f) {
        std::size_t i = 0;
        for (auto&& o : ops_)
            f(i++, o);
    }

    class results {
    public:
        explicit results(range_of_operations const& ops)
            : signals_(ops.size(), ops.allocator_),
              order_(ops.size(), ops.allocator_),
              kept_(ops.size(), ops.allocator_),
              allocator_(ops.allocator_) {}
        cancellation_signal& signal(std::size_t i) noexcept { return signals_[i]; }
        std::size_t& order(std::size_t at) noexcept { return order_[at]; }
        template <class Values> void keep(std::size_t i, Values&& v) { kept_[i].emplace(std::forward<Values>(v)); }
        values take() { return take(std::make_index_sequence<std::tuple_size_v<values_of_operation<op>>>()); }

    private:
        template <std::size_t... I> values take(std::index_sequence<I...>) {
            return values(std::move(order_), column<I>()...);
        }
        template <std::size_t I> auto column() {
            vector_with<Allocator, std::tuple_element_t<I, values_of_operation<op>>> all(allocator_);
            all.reserve(kept_.size());
            for (auto& k : kept_)
                all.push_back(std::get<I>(*std::move(k)));
            return all;
        }

        vector_with<Allocator, cancellation_signal> signals_; // never moved
        vector_with<Allocator, std::size_t> order_;
        vector_with<Allocator, std::optional<values_of_operation<op>>> kept_;
        Allocator allocator_;
    };

private:
    Range ops_;
    std::size_t size_ = 0;
    Allocator allocator_;
};

/// The block that the operations of a group share. It counts their handlers, and the start.
template <class Operations, class Condition, class Handler> class parallel_state {
public:
    template <class H> parallel_state(Operations const& ops, Condition&& condition, H&& handler)
        : size_(ops.size()),
          condition_(std::move(condition)),
          results_(ops),
          handler_(std::forward<H>(handler)),
          work_(handler_, nullptr) {}

    void start(Operations& ops) {
        relay_.listen(handler_, *this);
        try {
            ops.for_each([this](auto i, auto& op) { std::move(op)(part_handler<decltype(i)>(*this, i, hears(op))); });
        } catch (...) { // Those that have been started are asked, and waited for; the caller is told.
            ask(cancellation_type::all, size_);
            release(true);
            throw;
        }
        auto const before = requested_.load(std::memory_order_acquire); // It may have found nobody in some slots.
        if (!!before)
            ask(before, size_);
        release(true);
    }

private:
    /// Each operation's handler. Its index is a number or an integral_constant. Asio's programs copy it, where they
    /// hand a token on by its name.
    template <class Index> class part_handler {
    public:
        using cancellation_slot_type = cancellation_slot;
        using slot_is_known_when_started = std::true_type;

        part_handler(parallel_state& s, Index i, bool hears) noexcept : state_(&s), index_(i), hears_(hears) {
            state_->references_.fetch_add(1, std::memory_order_relaxed);
        }
        part_handler(part_handler const& other) noexcept
            : state_(other.state_),
              index_(other.index_),
              hears_(other.hears_) {
            if (state_)
                state_->references_.fetch_add(1, std::memory_order_relaxed);
        }
        part_handler(part_handler&& other) noexcept
            : state_(base::taken_from(other.state_)),
              index_(other.index_),
              hears_(other.hears_) {}
        part_handler& operator=(part_handler const&) = delete;
        ~part_handler() {
            if (state_)
                state_->release(true); // Handlers are not called by destructors.
        }
        cancellation_slot_type get_cancellation_slot() const noexcept {
            return hears_ ? state_->results_.signal(index_).slot() : cancellation_slot();
        }
        template <class... Args> void operator()(Args&&... args) {
            parallel_state& s = *state_;
            s.has_ended(index_, std::forward<Args>(args)...);
            state_ = nullptr;
            s.release(false);
        }

    private:
        parallel_state* state_;
        [[no_unique_address]] Index index_;
        bool hears_;
    };
    /// An operation that cannot be ended early is waited for.
    template <class Op> static bool hears([[maybe_unused]] Op const& op) noexcept {
        if constexpr (operation::brings_awaiter<Op>)
            return Op::hears_requests;
        else if constexpr (operation::is_async_op<Op>)
            return operation::op_access::functions(op)->takes_requests;
        else
            return true;
    }
    template <class Index, class... Args> void has_ended(Index i, Args&&... args) {
        cancellation_type const type = condition_(std::as_const(args)...);
        results_.keep(i, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
        results_.order(ended_.fetch_add(1, std::memory_order_relaxed)) = i;
        if (!!type && !is_decided_.exchange(true, std::memory_order_relaxed))
            request(type, i);
    }
    friend operation::request_relay<parallel_state>;
    void request(cancellation_type type) { request(type, size_); }
    /// `but`: the one that has ended.
    void request(cancellation_type type, std::size_t but) {
        auto before = requested_.load(std::memory_order_relaxed);
        while (!requested_.compare_exchange_weak(before, before | type, std::memory_order_release,
                                                 std::memory_order_relaxed)) {
        }
        ask(type, but);
    }
    void ask(cancellation_type type, std::size_t but) {
        for (std::size_t i = 0; i != size_; ++i)
            if (i != but)
                results_.signal(i).emit(type);
    }
    void release(bool must_not_call) {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            finish(must_not_call);
    }
    void finish(bool must_not_call) {
        relay_.stop(handler_);
        [[maybe_unused]] operation::handler_work<Handler> const work(
            std::move(work_)); // Until the handler has been called.
        Handler h(operation::move_out(handler_, [this] { operation::deallocate_with(handler_, this); }));
        if (ended_.load(std::memory_order_relaxed) != size_) // Some will never complete.
            return operation::deallocate_with(h, this);
        auto v = values_or_end(h);
        operation::deallocate_with(h, this);
        if (must_not_call)
            operation::complete_composed(true, inline_executor(), h, std::move(v));
        else
            operation::dispatch_values(h, std::move(v));
    }
    auto values_or_end(Handler& h) {
        try {
            return results_.take();
        } catch (...) {
            operation::deallocate_with(h, this);
            throw;
        }
    }

    std::size_t size_;
    std::atomic<std::size_t> references_{1};
    std::atomic<std::size_t> ended_{0};
    std::atomic<cancellation_type> requested_{cancellation_type::none};
    std::atomic<bool> is_decided_{false};
    [[no_unique_address]] Condition condition_;
    typename Operations::results results_;
    Handler handler_;
    operation::handler_work<Handler> work_;
    operation::request_relay<parallel_state> relay_;
};

template <class Operations, class Condition> struct parallel_initiation {
    Operations operations;
    Condition condition;

    template <class Handler> void operator()(Handler&& handler) {
        using state = parallel_state<Operations, Condition, std::decay_t<Handler>>;
        operation::allocate_with<state>(handler, operations, std::move(condition), std::forward<Handler>(handler))
            ->start(operations);
    }
};

template <class Values> struct signature_with;
template <class... T> struct signature_with<std::tuple<T...>> {
    using type = void(T...);
};

} // namespace impl::token

namespace experimental {

/// Operations that have not started, to be waited for together.
template <async_operation... Ops>
    requires(sizeof...(Ops) > 0)
class [[nodiscard("a group starts only when it is waited for")]] parallel_group {
    using operations = impl::token::tuple_of_operations<Ops...>;

public:
    using signature = typename impl::token::signature_with<typename operations::values>::type;

    explicit parallel_group(Ops... ops) : ops_(std::move(ops)...) {}

    /// Starts the operations, in their order.
    /// `condition`: called with the values of an operation that has ended. A type other than none asks the others to
    /// end. wait_for_all, wait_for_one, wait_for_one_success and wait_for_one_error are conditions.
    /// Completes  (order, values...): the indices of the operations in the order in which they ended, then the values
    ///            of all operations, the first one's first
    /// Errors     none of its own; what starting an operation throws, when those before it have been asked to end
    /// Cancel     all operations are asked, with the type of the request
    /// Immediate  no handler runs inside this call
    /// Lifetime   the operations are moved; what their arguments refer to outlives them
    /// Threads    the condition is called where an operation ends, so that it may be called by several at a time
    /// Allocates  one block from the handler's allocator, by default the recycler; and what the operations take
    /// Source     Asio, experimental::parallel_group
    template <class Condition, completion_token_for<signature> Token>
    decltype(auto) async_wait(Condition condition, Token&& token) {
        return completion_token_transform<signature>(
            std::forward<Token>(token),
            impl::token::parallel_initiation<operations, Condition>{operations(std::move(ops_)), std::move(condition)});
    }

private:
    std::tuple<Ops...> ops_;
};

/// A range of operations that have not started, to be waited for together.
template <class Range, class Allocator = std::allocator<void>>
class [[nodiscard("a group starts only when it is waited for")]] ranged_parallel_group {
    using operations = impl::token::range_of_operations<Range, Allocator>;

public:
    using signature = typename impl::token::signature_with<typename operations::values>::type;

    /// Throws     logic_error if there is no operation
    explicit ranged_parallel_group(Range range, Allocator const& a = Allocator())
        : range_(std::move(range)),
          allocator_(a) {
        if (range_.begin() == range_.end())
            throw std::logic_error("a parallel group has at least one operation");
    }

    /// As parallel_group::async_wait().
    /// Completes  (order, vectors...): the indices of the operations in the order in which they ended, then a vector
    ///            for each argument that they complete with
    /// Errors     as for a fixed number of operations
    /// Cancel     as for those
    /// Immediate  no handler runs inside this call
    /// Lifetime   the range is moved
    /// Threads    as for those
    /// Allocates  vectors and signals from the allocator of the group; one block from the handler's allocator
    /// Source     Asio, experimental::ranged_parallel_group
    template <class Condition, completion_token_for<signature> Token>
    decltype(auto) async_wait(Condition condition, Token&& token) {
        return completion_token_transform<signature>(
            std::forward<Token>(token), impl::token::parallel_initiation<operations, Condition>{
                                            operations(std::move(range_), allocator_), std::move(condition)});
    }

private:
    Range range_;
    Allocator allocator_;
};

} // namespace experimental

namespace impl::token {

template <class Range, class Allocator> auto group_of_range(Range&& range, Allocator const& a) {
    using element = std::decay_t<decltype(*range.begin())>;
    if constexpr (std::is_lvalue_reference_v<Range> && !std::copy_constructible<element>) {
        std::vector<element> moved(std::make_move_iterator(range.begin()), std::make_move_iterator(range.end()));
        return experimental::ranged_parallel_group<std::vector<element>, Allocator>(std::move(moved), a);
    } else {
        return experimental::ranged_parallel_group<std::decay_t<Range>, Allocator>(std::forward<Range>(range), a);
    }
}

} // namespace impl::token

namespace experimental {

/// A range whose elements are operations.
template <class T> struct is_async_operation_range : std::bool_constant < requires(T& t) {
    {*t.begin()};
    t.end();
    requires async_operation<std::decay_t<decltype(*t.begin())>>;
}>{};

/// `co_await make_parallel_group(op1, op2).async_wait(wait_for_one(), deferred)`. The operations are those that
/// `deferred` returns, or any that is called with a token alone.
template <async_operation... Ops> parallel_group<Ops...> make_parallel_group(Ops... ops) {
    return parallel_group<Ops...>(std::move(ops)...);
}
/// Of a range. Elements that cannot be copied are moved out of one that has a name.
template <class Range>
    requires(is_async_operation_range<std::decay_t<Range>>::value)
auto make_parallel_group(Range&& range) {
    return impl::token::group_of_range(std::forward<Range>(range), std::allocator<void>());
}
template <class Allocator, class Range>
    requires(is_async_operation_range<std::decay_t<Range>>::value)
auto make_parallel_group(std::allocator_arg_t, Allocator const& a, Range&& range) {
    return impl::token::group_of_range(std::forward<Range>(range), a);
}

} // namespace experimental
} // namespace fairlead
