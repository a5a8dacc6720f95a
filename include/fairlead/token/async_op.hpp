// What an initiating function returns for use_await (the default token) and deferred: one type per completion signature.
//
// The type says nothing about the operation behind it (P0162R0 §5.4), and awaiting allocates nothing (P0055R1): the
// value holds just the erased initiation, the operation's record lies in the awaiting coroutine's frame.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/token/initiate.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>

namespace fairlead {

/// Token: the initiating function returns an async_op, to be awaited. The default of every operation.
struct use_await_t {
    constexpr use_await_t() noexcept = default;
};
inline constexpr use_await_t use_await{};
using use_awaitable_t = use_await_t;
inline constexpr use_await_t use_awaitable{}; ///< Asio's name for the same thing.

/// Token: the initiating function returns an async_op that starts when it is called with another token, or awaited.
struct deferred_t {
    constexpr deferred_t() noexcept = default;
};
inline constexpr deferred_t deferred{};

template <class Signature> class async_op;

namespace detail {

enum class step : unsigned char { ready, not_ready };

// ---- handlers behind async_op: one function table for each handler type, none for each operation

template <class... Args> struct erased_handler_functions {
    std::size_t size;
    void* (*allocate)(void* handler, std::size_t bytes);
    void (*relocate)(void* from, void* to) noexcept;
    /// Moves the handler out of the block, gives the block back to the handler's allocator, invokes.
    void (*complete)(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values);
    void (*abandon)(void* handler, void* block, std::size_t bytes);
    loop* (*foreign_loop)(void* handler, loop* operation) noexcept; ///< the handler's own loop if it is another
};

template <class Handler, class... Args> struct erased_handler_table {
    static Handler& in(void* p) noexcept { return *static_cast<Handler*>(p); }

    static void* allocate(void* handler, std::size_t bytes) {
        auto allocator = handler_allocator_for<std::max_align_t>(in(handler));
        return std::to_address(allocator.allocate(units(bytes)));
    }
    static void relocate(void* from, void* to) noexcept {
        ::new (to) Handler(std::move(in(from)));
        in(from).~Handler();
    }
    static void give_back(Handler const& h, void* block, std::size_t bytes) noexcept {
        auto allocator = handler_allocator_for<std::max_align_t>(h);
        allocator.deallocate(static_cast<std::max_align_t*>(block), units(bytes));
    }
    static void complete(void* handler, void* block, std::size_t bytes, std::tuple<Args...>&& values) {
        Handler h(std::move(in(handler)));
        in(handler).~Handler();
        give_back(h, block, bytes);
        dispatch_values(h, std::move(values));
    }
    static void abandon(void* handler, void* block, std::size_t bytes) {
        Handler h(std::move(in(handler)));
        in(handler).~Handler();
        give_back(h, block, bytes);
    }
    static loop* foreign_loop(void* handler, loop* operation) noexcept {
        if constexpr (has_own_executor<Handler>) {
            loop* l = loop_of(get_associated_executor(in(handler)));
            return l == operation ? nullptr : l;
        } else {
            return nullptr;
        }
    }
    static constexpr std::size_t units(std::size_t bytes) noexcept {
        return (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    }
    static constexpr erased_handler_functions<Args...> functions{sizeof(Handler), &allocate, &relocate,
                                                                 &complete,       &abandon,  &foreign_loop};
};

/// A handler of unknown type, borrowed until it is relocated.
template <class... Args> struct handler_ref {
    void* handler;
    erased_handler_functions<Args...> const* functions;
};

/// The op of a primitive with an erased handler behind it, in one block.
template <class Init, class... Args> struct erased_op : Init::record {
    erased_handler_functions<Args...> const* functions;
    std::size_t bytes;
    loop* foreign;

    static constexpr std::size_t handler_offset() noexcept {
        return (sizeof(erased_op) + 15) / 16 * 16;
    }
    void* handler() noexcept { return reinterpret_cast<std::byte*>(this) + handler_offset(); }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<erased_op*>(static_cast<typename Init::record*>(base));
        auto* functions = self->functions;
        auto const bytes = self->bytes;
        auto* const handler = self->handler();
        loop* const foreign = self->foreign;
        if (mode == op_mode::abandon) {
            Init::drop(*self);
            self->~erased_op();
            functions->abandon(handler, self, bytes);
        } else {
            auto values = Init::take(*self);
            self->~erased_op();
            functions->complete(handler, self, bytes, std::move(values));
        }
        if (foreign)
            foreign->work_finished();
    }
};

/// A handler that lives in a block of its own: what a generic initiation is given when its async_op is called with a token.
template <class... Args> class boxed_handler {
public:
    explicit boxed_handler(handler_ref<Args...> h) : functions_(h.functions) {
        bytes_ = h.functions->size;
        block_ = functions_->allocate(h.handler, bytes_);
        functions_->relocate(h.handler, block_);
    }
    boxed_handler(boxed_handler&& other) noexcept
        : functions_(other.functions_), block_(std::exchange(other.block_, nullptr)), bytes_(other.bytes_) {}
    boxed_handler& operator=(boxed_handler&&) = delete;
    ~boxed_handler() {
        if (block_)
            functions_->abandon(block_, block_, bytes_);
    }
    void operator()(Args... args) {
        void* block = std::exchange(block_, nullptr);
        functions_->complete(block, block, bytes_, std::tuple<Args...>(std::move(args)...));
    }

private:
    erased_handler_functions<Args...> const* functions_;
    void* block_;
    std::size_t bytes_;
};

// ---- the handler through which a generic operation resumes a coroutine

/// The lendable bytes of one await record as an allocator; a second live block goes to the recycler and is counted.
template <class T> class record_allocator {
public:
    using value_type = T;
    template <class U> struct rebind {
        using other = record_allocator<U>;
    };
    explicit record_allocator(await_record* r) noexcept : record_(r) {}
    template <class U> record_allocator(record_allocator<U> const& other) noexcept : record_(other.record_) {}

    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        // Only on the thread that runs the coroutine: an operation that allocates on two threads at once must overflow.
        bool const here = !record_->home || record_->home->mine();
        if (here && !record_->lent && n * sizeof(T) <= await_record::lendable) {
            record_->lent = true;
            return static_cast<T*>(static_cast<void*>(record_->bytes));
        }
        ++this_thread.record_overflows;
        return static_cast<T*>(recycle_allocate(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        if (static_cast<void*>(p) == record_->bytes)
            record_->lent = false;
        else
            recycle_free(p);
    }
    template <class U> friend bool operator==(record_allocator const& a, record_allocator<U> const& b) noexcept {
        return a.record_ == b.record_;
    }

    await_record* record_;
};

/// Results lie behind the place of an op, so that a finished coroutine can still be queued through its own record.
inline constexpr std::size_t result_offset = sizeof(op);
inline constexpr std::size_t result_most = await_record::lendable - result_offset;

template <class Values> inline constexpr bool result_fits = sizeof(Values) <= result_most && alignof(Values) <= 16;

template <class Values> void store_result(await_record& r, Values&& v) {
    FAIRLEAD_ASSERT(!r.lent && "an operation kept memory of its handler's allocator past its completion");
    using type = std::decay_t<Values>;
    void* place = r.bytes + result_offset;
    if constexpr (result_fits<type>)
        ::new (place) type(std::forward<Values>(v));
    else
        ::new (place) type*(::new (recycle_allocate(sizeof(type))) type(std::forward<Values>(v)));
}
template <class Values> Values take_result(await_record& r) {
    void* place = r.bytes + result_offset;
    if constexpr (result_fits<Values>) {
        auto* p = std::launder(static_cast<Values*>(place));
        Values v(std::move(*p));
        p->~Values();
        return v;
    } else {
        auto* p = *std::launder(static_cast<Values**>(place));
        Values v(std::move(*p));
        p->~Values();
        recycle_free(p);
        return v;
    }
}

/// Ends the await of `r`, whose result is stored. Called by the operation, in whatever thread it ends.
FAIRLEAD_EXPORT void finish_await(await_record& r);
/// The operation will never complete: the root of the await chain is destroyed from its loop.
FAIRLEAD_EXPORT void drop_await(await_record& r) noexcept;

template <class... Args> class await_handler {
public:
    using allocator_type = record_allocator<void>;
    using executor_type = loop_executor;

    explicit await_handler(await_record* r) noexcept : record_(r) {}
    await_handler(await_handler&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
    await_handler& operator=(await_handler&&) = delete;
    ~await_handler() {
        if (record_)
            drop_await(*record_);
    }

    allocator_type get_allocator() const noexcept { return allocator_type(record_); }
    executor_type get_executor() const noexcept { return executor_type(record_->home); }

    void operator()(Args... args) {
        auto& r = *std::exchange(record_, nullptr);
        store_result(r, std::tuple<std::decay_t<Args>...>(std::move(args)...));
        finish_await(r);
    }

private:
    await_record* record_;
};

// ---- the erased initiation

template <class... Args> struct initiation_functions {
    using values = std::tuple<std::decay_t<Args>...>;
    void (*relocate)(void* from, void* to) noexcept; ///< null: copy the bytes
    void (*destroy)(void*) noexcept;                 ///< null: nothing to do
    loop* (*home)(void const*) noexcept;             ///< null result: runs anywhere
    step (*try_step)(void*, await_record&);          ///< null: never ready at once
    bool (*start_await)(void*, await_record&);       ///< false: completed meanwhile, do not suspend
    values (*take)(void*, await_record&);
    void (*start)(void*, handler_ref<std::decay_t<Args>...>);
    values (*block)(void*); ///< null: cannot be done without a loop
};

/// Out of budget: the coroutine goes to the end of the queue with nothing tried, and tries when it is dequeued.
template <class Functions> struct retry_op : op {
    Functions const* functions;
    void* storage;

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<retry_op*>(base);
        auto& r = await_record::of(*self);
        auto* const f = self->functions;
        auto* const storage = self->storage;
        if (mode == op_mode::abandon) {
            drop_await(r);
            return;
        }
        r.state = await_state::idle;
        if (f->try_step(storage, r) == step::ready || !f->start_await(storage, r))
            loop::resume_chain(r);
    }
    static void queue(await_record& r, Functions const* f, void* storage) noexcept {
        auto& o = r.make<retry_op>();
        o.functions = f;
        o.storage = storage;
        o.run = &retry_op::run_it;
        o.cancel = nullptr;
        r.home->post(o);
    }
};

template <class Init, class... Args> struct primitive_functions {
    using functions_type = initiation_functions<Args...>;
    using values = typename functions_type::values;
    using record = typename Init::record;
    static constexpr bool can_try = requires(Init const& i, record& r) { i.attempt(r); };
    static constexpr bool can_block = detail::can_block<Init, values>;
    static constexpr bool plain_result = requires { typename Init::plain_result; };

    static Init& in(void* p) noexcept { return *std::launder(static_cast<Init*>(p)); }

    static void relocate(void* from, void* to) noexcept {
        ::new (to) Init(std::move(in(from)));
        in(from).~Init();
    }
    static void destroy(void* p) noexcept { in(p).~Init(); }
    static loop* home(void const* p) noexcept { return in(const_cast<void*>(p)).home(); }

    static step try_step(void* p, await_record& r) {
        if constexpr (can_try) {
            r.state = await_state::idle;
            Init& i = in(p);
            if (i.home() != r.home)
                return step::not_ready;
            if (!i.ready())
                return step::not_ready;
            if (!r.home->spend()) {
                r.state = await_state::exhausted;
                return step::not_ready;
            }
            record& o = r.make<record>();
            i.prepare(o);
            if (i.attempt(o)) {
                r.state = plain_result ? await_state::plain : await_state::idle;
                return step::ready;
            }
            r.state = await_state::prepared;
        }
        return step::not_ready;
    }
    static bool start_await(void* p, await_record& r) {
        Init& i = in(p);
        if constexpr (can_try) {
            if (r.state == await_state::exhausted) {
                retry_op<functions_type>::queue(r, &functions, p);
                return true;
            }
            if (r.state != await_state::prepared)
                i.prepare(r.make<record>());
        } else {
            i.prepare(r.make<record>());
        }
        r.state = plain_result ? await_state::plain : await_state::idle;
        auto& o = r.get<record>();
        o.run = Init::drops ? &awaited_run : nullptr;
        if (r.home != i.home()) [[unlikely]] {
            r.foreign = true;
            r.home->work_started();
        }
        i.submit(o); // The coroutine may be running again before this returns: nothing of the frame is touched below.
        return true;
    }
    /// Instead of null, for records that own something which must not be lost when they are abandoned.
    static void awaited_run(op* o, op_mode mode) {
        o->run = nullptr;
        if (mode == op_mode::complete) {
            this_thread.current->resume_op(*o);
            return;
        }
        Init::drop(static_cast<record&>(*o));
        loop::abandon(*o);
    }
    static values take(void*, await_record& r) { return Init::take(r.get<record>()); }

    static void start(void* p, handler_ref<std::decay_t<Args>...> h) {
        using op_type = erased_op<Init, std::decay_t<Args>...>;
        Init& i = in(p);
        auto const bytes = op_type::handler_offset() + h.functions->size;
        auto* o = ::new (h.functions->allocate(h.handler, bytes)) op_type;
        o->functions = h.functions;
        o->bytes = bytes;
        o->foreign = h.functions->foreign_loop(h.handler, i.home());
        if (o->foreign)
            o->foreign->work_started();
        h.functions->relocate(h.handler, o->handler());
        i.prepare(*o);
        o->run = &op_type::run_it;
        i.submit(*o);
    }
    static values block(void* p)
        requires can_block
    {
        return perform_blocking<values>(in(p));
    }
    static constexpr auto block_function() {
        values (*f)(void*) = nullptr;
        if constexpr (can_block)
            f = &block;
        return f;
    }
    static constexpr functions_type functions{
        std::is_trivially_copyable_v<Init> ? nullptr : &relocate,
        std::is_trivially_destructible_v<Init> ? nullptr : &destroy,
        &home,
        can_try ? &try_step : nullptr,
        &start_await,
        &take,
        &start,
        block_function()};
};

template <class Init, class... Args> struct generic_functions {
    using functions_type = initiation_functions<Args...>;
    using values = typename functions_type::values;
    static constexpr bool can_try = requires(Init& i) {
        { i.try_step() } -> std::convertible_to<std::optional<values>>;
    };
    static constexpr bool can_block = detail::can_block<Init, values>;

    static Init& in(void* p) noexcept { return *std::launder(static_cast<Init*>(p)); }
    static void relocate(void* from, void* to) noexcept {
        ::new (to) Init(std::move(in(from)));
        in(from).~Init();
    }
    static void destroy(void* p) noexcept { in(p).~Init(); }
    static loop* home(void const* p) noexcept {
        if constexpr (requires(Init const& i) { i.get_executor(); })
            return loop_of(in(const_cast<void*>(p)).get_executor());
        else
            return nullptr;
    }
    static step try_step(void* p, await_record& r) {
        if constexpr (can_try) {
            Init& i = in(p);
            if (r.home && !r.home->spend()) {
                r.state = await_state::exhausted;
                return step::not_ready;
            }
            r.state = await_state::idle;
            if (auto v = i.try_step()) {
                store_result(r, values(std::move(*v)));
                return step::ready;
            }
        }
        return step::not_ready;
    }
    static bool start_await(void* p, await_record& r) {
        if constexpr (can_try) {
            if (r.state == await_state::exhausted) {
                retry_op<functions_type>::queue(r, &functions, p);
                return true;
            }
        }
        r.state = await_state::idle;
        auto& thread = this_thread;
        struct restore {
            thread_state& thread;
            await_record const* starting;
            bool dropped;
            ~restore() {
                thread.starting = starting;
                thread.dropped = dropped;
            }
        } const outer{thread, thread.starting, thread.dropped};
        thread.starting = &r;
        thread.dropped = false;
        std::move(in(p))(await_handler<std::decay_t<Args>...>(&r));
        // From here on the frame may be gone, unless the thread's own state says that it is still ours.
        if (thread.starting == &r)
            return true;
        if (thread.dropped) {
            thread.starting = nullptr;
            drop_await(r);
            return true;
        }
        if (!r.home || r.home->spend())
            return false; // Completed before it returned: an immediate completion like any other.
        loop::resume_later(r);
        return true;
    }
    static values take(void*, await_record& r) { return take_result<values>(r); }
    static void start(void* p, handler_ref<std::decay_t<Args>...> h) {
        std::move(in(p))(boxed_handler<std::decay_t<Args>...>(h));
    }
    static values block(void* p)
        requires can_block
    {
        return perform_blocking<values>(in(p));
    }
    static constexpr auto block_function() {
        values (*f)(void*) = nullptr;
        if constexpr (can_block)
            f = &block;
        return f;
    }
    static constexpr functions_type functions{
        std::is_trivially_copyable_v<Init> ? nullptr : &relocate,
        std::is_trivially_destructible_v<Init> ? nullptr : &destroy,
        &home,
        can_try ? &try_step : nullptr,
        &start_await,
        &take,
        &start,
        block_function()};
};

/// An initiation too large for an async_op, or one whose move may throw, in a counted block of the recycler.
template <class Init> class boxed_initiation {
public:
    template <class I>
    explicit boxed_initiation(std::in_place_t, I&& i) {
        void* block = recycle_allocate(sizeof(Init));
        try {
            init_ = ::new (block) Init(std::forward<I>(i));
        } catch (...) {
            recycle_free(block);
            throw;
        }
    }
    boxed_initiation(boxed_initiation&& other) noexcept : init_(std::exchange(other.init_, nullptr)) {}
    boxed_initiation& operator=(boxed_initiation&&) = delete;
    ~boxed_initiation() {
        if (init_) {
            init_->~Init();
            recycle_free(init_);
        }
    }
    Init& operator*() const noexcept { return *init_; }

private:
    Init* init_;
};

/// The functions of Base applied to an initiation that lies behind a pointer.
template <template <class, class...> class Base, class Init, class... Args> struct boxed_functions {
    using base = Base<Init, Args...>;
    using functions_type = typename base::functions_type;
    using values = typename base::values;
    using box = boxed_initiation<Init>;
    static void* inner(void* p) noexcept { return &**std::launder(static_cast<box*>(p)); }
    static void relocate(void* from, void* to) noexcept {
        auto* b = std::launder(static_cast<box*>(from));
        ::new (to) box(std::move(*b));
        b->~box();
    }
    static void destroy(void* p) noexcept { std::launder(static_cast<box*>(p))->~box(); }
    static loop* home(void const* p) noexcept { return base::home(inner(const_cast<void*>(p))); }
    static step try_step(void* p, await_record& r) { return base::try_step(inner(p), r); }
    static bool start_await(void* p, await_record& r) { return base::start_await(inner(p), r); }
    static values take(void* p, await_record& r) { return base::take(inner(p), r); }
    static void start(void* p, handler_ref<std::decay_t<Args>...> h) { base::start(inner(p), h); }
    static values block(void* p) { return base::functions.block(inner(p)); }
    static constexpr functions_type functions{&relocate,
                                              &destroy,
                                              &home,
                                              base::can_try ? &try_step : nullptr,
                                              &start_await,
                                              &take,
                                              &start,
                                              base::can_block ? &block : nullptr};
};

/// What co_await yields of the arguments: errors thrown, one value bare, several as a tuple.
template <class... Rest> auto unwrap_rest(std::tuple<Rest...>&& rest) {
    if constexpr (sizeof...(Rest) == 1)
        return std::get<0>(std::move(rest));
    else if constexpr (sizeof...(Rest) > 1)
        return std::move(rest);
}
template <class First, class... Rest> auto unwrap(std::tuple<First, Rest...>&& v) {
    if constexpr (std::is_same_v<First, error_code> || std::is_same_v<First, std::exception_ptr>) {
        if constexpr (std::is_same_v<First, error_code>) {
            throw_error(std::get<0>(v), "co_await");
        } else if (std::get<0>(v)) {
            std::rethrow_exception(std::move(std::get<0>(v)));
        }
        return std::apply([](First&, Rest&... rest) { return unwrap_rest(std::tuple<Rest...>(std::move(rest)...)); }, v);
    } else {
        return unwrap_rest(std::move(v));
    }
}
inline void unwrap(std::tuple<>&&) noexcept {}

/// An errno value, or minus a value of misc_errors, as it stands in op_result::error.
inline error_code to_error_code(int e) noexcept {
    if (e == 0) [[likely]]
        return {};
    if (e > 0)
        return {e, std::system_category()};
    return error::make_error_code(static_cast<error::misc_errors>(-e));
}
[[noreturn]] FAIRLEAD_COLD inline void throw_plain(int e) { throw_error_now(to_error_code(e), "co_await"); }

/// The result of a finished await. After the suspension the compiler no longer knows which operation it was, so the
/// common kinds of result are read here rather than through a call.
template <class Signature, class Functions>
auto resume_with(Functions const* f, void* storage, await_record& r) {
    using values = values_of<Signature>;
    if constexpr (std::is_same_v<values, std::tuple<error_code, std::size_t>>) {
        if (r.state == await_state::plain) [[likely]] {
            auto const& result = r.get<op>().result;
            if (result.error) [[unlikely]]
                throw_plain(result.error);
            return std::size_t{result.n};
        }
        return unwrap(f->take(storage, r));
    } else if constexpr (std::is_same_v<values, std::tuple<error_code>>) {
        if (r.state == await_state::plain) [[likely]] {
            if (int const e = r.get<op>().result.error) [[unlikely]]
                throw_plain(e);
            return;
        }
        return unwrap(f->take(storage, r));
    } else if constexpr (std::is_same_v<values, std::tuple<>>) {
        return; // Nothing to take, and no operation without values has anything to clean up.
    } else {
        return unwrap(f->take(storage, r));
    }
}

template <class Signature> class op_awaiter;
template <class Signature> class foreign_awaiter;

} // namespace detail

/// An operation that has not started. Awaited it starts, with its state in the awaiting frame; called with a token it
/// starts as the initiating function would have with that token; destroyed it never starts.
/// Movable until started. Threads: as the object it was made from.
template <class R, class... Args> class [[nodiscard("the operation starts only when it is awaited or called with a token")]] async_op<R(Args...)> {
public:
    using signature = R(Args...);
    using values = std::tuple<std::decay_t<Args>...>;
    static constexpr std::size_t storage_size = 40;

    template <class Init>
    static constexpr bool inside = sizeof(Init) <= storage_size && alignof(Init) <= 8 &&
                                   std::is_nothrow_move_constructible_v<Init>;

    template <class Init>
        requires(!std::same_as<std::decay_t<Init>, async_op>)
    explicit async_op(Init&& init) noexcept(inside<std::decay_t<Init>>) {
        using init_type = std::decay_t<Init>;
        void* place = storage_;
        if constexpr (inside<init_type>) {
            ::new (place) init_type(std::forward<Init>(init));
            if constexpr (detail::primitive_initiation<init_type>)
                functions_ = &detail::primitive_functions<init_type, Args...>::functions;
            else
                functions_ = &detail::generic_functions<init_type, Args...>::functions;
        } else {
            ::new (place) detail::boxed_initiation<init_type>(std::in_place, std::forward<Init>(init));
            if constexpr (detail::primitive_initiation<init_type>)
                functions_ = &detail::boxed_functions<detail::primitive_functions, init_type, Args...>::functions;
            else
                functions_ = &detail::boxed_functions<detail::generic_functions, init_type, Args...>::functions;
        }
    }
    async_op(async_op&& other) noexcept : functions_(other.functions_) {
        if (functions_ && functions_->relocate)
            functions_->relocate(other.storage_, storage_);
        else
            for (std::size_t i = 0; i != storage_size; ++i)
                storage_[i] = other.storage_[i];
        other.functions_ = nullptr;
    }
    async_op& operator=(async_op&&) = delete;
    ~async_op() {
        if (functions_ && functions_->destroy)
            functions_->destroy(storage_);
    }

    /// Starts the operation with another token.
    template <class Token> decltype(auto) operator()(Token&& token) && {
        FAIRLEAD_ASSERT(functions_);
        return completion_token_transform<signature>(std::forward<Token>(token), initiation{std::move(*this)});
    }

    /// For coroutines of other libraries: the awaiter carries the record itself.
    detail::foreign_awaiter<signature> operator co_await() && noexcept;

private:
    friend class detail::op_awaiter<signature>;
    friend class detail::foreign_awaiter<signature>;

    /// The operation as an initiation, for whatever token it meets next.
    struct initiation {
        async_op op;
        template <class Handler> void operator()(Handler&& handler) && {
            std::decay_t<Handler> h(std::forward<Handler>(handler));
            auto* functions = op.functions_;
            functions->start(op.storage_,
                             {&h, &detail::erased_handler_table<std::decay_t<Handler>, std::decay_t<Args>...>::functions});
        }
        values block() {
            if (!op.functions_->block)
                detail::throw_error(error::operation_not_supported, "block: this operation needs a loop");
            return op.functions_->block(op.storage_);
        }
    };

    detail::initiation_functions<Args...> const* functions_;
    alignas(8) std::byte storage_[storage_size];
};

namespace detail {

/// Awaits an async_op in a coroutine of ours. Two pointers, because g++ keeps one of these for every await site.
template <class R, class... Args> class op_awaiter<R(Args...)> {
public:
    op_awaiter(async_op<R(Args...)>& o, await_record& r) noexcept : op_(o), record_(r) {}
    op_awaiter(op_awaiter const&) = delete;
    op_awaiter& operator=(op_awaiter const&) = delete;

    bool await_ready() {
        auto* const f = op_.functions_;
        return f->try_step && f->try_step(op_.storage_, record_) == step::ready;
    }
    bool await_suspend(std::coroutine_handle<>) { return op_.functions_->start_await(op_.storage_, record_); }
    auto await_resume() { return resume_with<R(Args...)>(op_.functions_, op_.storage_, record_); }

private:
    async_op<R(Args...)>& op_;
    await_record& record_;
};

FAIRLEAD_EXPORT extern record_hooks const foreign_hooks;

template <class R, class... Args> class foreign_awaiter<R(Args...)> {
public:
    explicit foreign_awaiter(async_op<R(Args...)>&& o) noexcept : op_(std::move(o)) {
        record_.home = op_.functions_->home(op_.storage_);
        record_.hooks = &foreign_hooks;
    }
    foreign_awaiter(foreign_awaiter const&) = delete;
    foreign_awaiter& operator=(foreign_awaiter const&) = delete;

    bool await_ready() {
        // Outside its loop the coroutine has no budget to spend: it goes through the loop.
        auto* const f = op_.functions_;
        return f->try_step && (!record_.home || record_.home->mine()) &&
               f->try_step(op_.storage_, record_) == step::ready;
    }
    bool await_suspend(std::coroutine_handle<> h) {
        record_.handle = h;
        return op_.functions_->start_await(op_.storage_, record_);
    }
    auto await_resume() { return resume_with<R(Args...)>(op_.functions_, op_.storage_, record_); }

private:
    async_op<R(Args...)> op_;
    await_record record_;
};

template <class Init, class Signature>
inline constexpr bool nothrow_async_op = async_op<Signature>::template inside<Init>;

template <primitive_initiation Init>
inline constexpr bool nothrow_token<use_await_t, Init> = nothrow_async_op<Init, typename Init::signature>;
template <primitive_initiation Init>
inline constexpr bool nothrow_token<deferred_t, Init> = nothrow_async_op<Init, typename Init::signature>;

} // namespace detail

template <class R, class... Args>
detail::foreign_awaiter<R(Args...)> async_op<R(Args...)>::operator co_await() && noexcept {
    return detail::foreign_awaiter<R(Args...)>(std::move(*this));
}

template <class Signature> class async_result<use_await_t, Signature> {
public:
    template <class Initiation>
    static async_op<Signature> initiate(Initiation&& initiation, use_await_t) noexcept(
        detail::nothrow_async_op<std::decay_t<Initiation>, Signature>) {
        return async_op<Signature>(std::forward<Initiation>(initiation));
    }
    template <class Initiation, class... Args>
        requires(sizeof...(Args) > 0)
    static async_op<Signature> initiate(Initiation&& initiation, use_await_t, Args&&... args) {
        return async_op<Signature>(detail::bound_initiation<std::decay_t<Initiation>, std::decay_t<Args>...>{
            std::forward<Initiation>(initiation), std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)});
    }
};
template <class Signature> class async_result<deferred_t, Signature> {
public:
    template <class Initiation, class... Args>
    static async_op<Signature> initiate(Initiation&& initiation, deferred_t, Args&&... args) noexcept(
        noexcept(async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                                std::forward<Args>(args)...))) {
        return async_result<use_await_t, Signature>::initiate(std::forward<Initiation>(initiation), use_await,
                                                              std::forward<Args>(args)...);
    }
};

} // namespace fairlead
