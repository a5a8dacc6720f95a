// An initiation behind a table of functions: how async_op knows what to do with the bytes that it holds.
//
// Two kinds of table. That of a primitive of the library prepares the op in the await record of the chain and hands
// it to the driver. That of any other initiation gives it a handler (await_handler.hpp) and lets it do as it likes.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/operation/awaited.hpp>
#include <fairlead/operation/chain_requests.hpp>
#include <fairlead/operation/erased_handler.hpp>
#include <fairlead/operation/initiate.hpp>
#include <fairlead/operation/tried.hpp>

namespace fairlead::impl::operation {

enum class step : unsigned char { ready, not_ready };

template <class... Args> struct initiation_functions {
    using values = std::tuple<std::decay_t<Args>...>;
    void (*relocate)(void* from, void* to) noexcept; ///< null: copy the bytes
    void (*destroy)(void*) noexcept;                 ///< null: nothing to do
    loop* (*home)(void const*) noexcept;             ///< null result: runs anywhere
    any_io_executor (*executor)(void const*);        ///< null: what home() says
    step (*try_step)(void*, await_record&);          ///< null: never ready at once
    bool (*start_await)(void*, await_record&);       ///< false: completed meanwhile, do not suspend
    values (*take)(void*, await_record&);
    void (*start)(void*, handler_ref<std::decay_t<Args>...>);
    values (*block)(void*);                                    ///< null: cannot be done without a loop
    std::string (*describe)(void const*, await_record const&); ///< of an error that is thrown; null: nobody knows
    /// Asks the op in the record to end early. Any thread, while the op cannot go. Null: what hears requests does so
    /// through its handler's slot.
    void (*cancel)(void*, await_record&, cancellation_type) noexcept;
    bool takes_requests;
    /// Of an op in the record that has succeeded: what its await returns. Written there at once, it is not read before
    /// its pieces have arrived, as a tuple of it and an error would be. Null: take() only.
    typename unwrapped<values>::type (*take_value)(await_record&) = nullptr;
};

/// Says which mistake the program has made, and aborts.
[[noreturn]] FAIRLEAD_EXPORT void operation_has_gone() noexcept;

/// Those of an operation that has been started, or moved away.
template <class... Args> inline constexpr initiation_functions<Args...> no_functions{
    nullptr,
    nullptr,
    [](void const*) noexcept -> loop* { operation_has_gone(); },
    nullptr,
    nullptr,
    [](void*, await_record&) -> bool { operation_has_gone(); },
    nullptr,
    [](void*, handler_ref<std::decay_t<Args>...>) { operation_has_gone(); },
    nullptr,
    nullptr,
    nullptr,
    false};

/// Initiations that describe themselves, for the message of an error: "connect to 127.0.0.1:80". Asked with the record,
/// they describe the part that has failed.
template <class Init>
concept describes_record = requires(Init const& i, typename Init::record const& r) {
    { i.describe(r) } -> std::same_as<std::string>;
};
template <class Init>
concept describes_itself = describes_record<Init> || requires(Init const& i) {
    { i.describe() } -> std::same_as<std::string>;
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
        r.state = exec::await_state::idle;
        bool done = true;
        try {
            auto const refused = r.notes & await_record::can_be_asked ? refusal_of(r) : refusal::none;
            if (refused == refusal::suspends)
                return;
            done = refused == refusal::throws || f->try_step(storage, r) == step::ready || !f->start_await(storage, r);
        } catch (...) { // An exception of a user's operation belongs to the coroutine that awaits it.
            await_has_failed(r, std::current_exception());
        }
        if (done)
            loop::resume_chain(r);
    }
    static void queue(await_record& r, Functions const* f, void* storage) noexcept {
        auto& o = r.make<retry_op>();
        o.functions = f;
        o.storage = storage;
        o.run = &retry_op::run_it;
        o.cancel = nullptr;
        r.home->resume_soon(o);
    }
};

/// Their record has what an await returns. There is no error to be taken with it.
template <class Init>
concept takes_value = !takes_here<Init> && requires(typename Init::record& r) { Init::take_value(r); };

/// In place of a section, for what any thread may try.
struct no_section {
    constexpr no_section() noexcept {}
};

/// The common part of tables of all kinds: the initiation lies in the storage.
template <class Init, class Values> struct stored_initiation {
    static constexpr bool can_block = operation::can_block<Init, Values>;

    /// Without std::launder, behind which g++ reads again what the coroutine has just written. The storage of an
    /// async_op holds one initiation only, from its construction on.
    static Init& in(void* p) noexcept { return *static_cast<Init*>(p); }
    static void relocate(void* from, void* to) noexcept {
        ::new (to) Init(std::move(in(from)));
        in(from).~Init();
    }
    static void destroy(void* p) noexcept { in(p).~Init(); }
    static Values block(void* p)
        requires can_block
    {
        return perform_blocking<Values>(in(p));
    }
    static constexpr auto relocate_function() { return std::is_trivially_copyable_v<Init> ? nullptr : &relocate; }
    static constexpr auto destroy_function() { return std::is_trivially_destructible_v<Init> ? nullptr : &destroy; }
    static std::string describe(void const* p, [[maybe_unused]] await_record const& r)
        requires describes_itself<Init>
    {
        auto const& init = *std::launder(static_cast<Init const*>(p));
        if constexpr (describes_record<Init>) {
            if (r.state != exec::await_state::stored) // else the record has gone
                return init.describe(r.get<typename Init::record>());
            if constexpr (requires { init.describe(); })
                return init.describe();
            else
                return "co_await";
        } else if constexpr (requires { init.describe_failed(); })
            return init.describe_failed();
        else
            return init.describe();
    }
    static constexpr auto describe_function() {
        std::string (*f)(void const*, await_record const&) = nullptr;
        if constexpr (describes_itself<Init>)
            f = &describe;
        return f;
    }
    static constexpr auto block_function() {
        Values (*f)(void*) = nullptr;
        if constexpr (can_block)
            f = &block;
        return f;
    }
};

template <class Init, class... Args> struct primitive_functions
    : stored_initiation<Init, typename initiation_functions<Args...>::values> {
    using base = stored_initiation<Init, typename initiation_functions<Args...>::values>;
    using base::in;
    using functions_type = initiation_functions<Args...>;
    using values = typename functions_type::values;
    using record = typename Init::record;
    static constexpr bool can_try = requires(Init const& i, record& r) { i.attempt(r); };
    static constexpr bool plain_result = requires { typename Init::plain_result; };
    static constexpr bool plain_attempt = plain_result || requires { typename Init::plain_attempt; };
    static constexpr bool is_tried_unprepared = requires(Init const& i, record& r) { i.attempt_unprepared(r); };
    static constexpr bool hears_of_completion = requires(record& r) { Init::completed(r); };
    static constexpr bool has_executor = false;
    static constexpr bool is_asked_in_place = cancellable_record<record> && !has_own_slot<Init>;

    static loop* home(void const* p) noexcept { return in(const_cast<void*>(p)).home(); }

    static step try_step(void* p, await_record& r) {
        if constexpr (can_try) {
            r.state = exec::await_state::idle;
            Init& i = in(p);
            [[maybe_unused]] std::conditional_t<tried_anywhere<Init>, no_section, exec::section> const s;
            if constexpr (!tried_anywhere<Init>)
                if (!i.home()->may_try(s))
                    return step::not_ready;
            if (!i.ready())
                return step::not_ready;
            if (!exec::spend()) {
                r.state = exec::await_state::exhausted;
                return step::not_ready;
            }
            record& o = r.make<record>();
            bool is_done;
            if constexpr (is_tried_unprepared) {
                is_done = i.attempt_unprepared(o);
            } else {
                i.prepare(o);
                is_done = i.attempt(o);
            }
            if (is_done) {
                r.state = plain_attempt ? exec::await_state::plain : exec::await_state::idle;
                return step::ready;
            }
            if constexpr (is_tried_unprepared)
                i.prepare(o);
            r.state = exec::await_state::prepared;
        }
        return step::not_ready;
    }
    static bool start_await(void* p, await_record& r) {
        if (r.notes & await_record::can_be_asked) [[unlikely]] {
            if (auto const refused = refusal_of(r); refused != refusal::none)
                return refused == refusal::suspends;
            if constexpr (can_be_cancelled<Init>() && hears_both<Init>) {
                if (!can_try || r.state != exec::await_state::exhausted)
                    return start_heard<true, std::decay_t<Args>...>(&start, p, r);
            }
        }
        Init& i = in(p);
        if constexpr (can_try) {
            if (r.state == exec::await_state::exhausted) {
                retry_op<functions_type>::queue(r, &functions, p);
                return true;
            }
            if (r.state != exec::await_state::prepared)
                i.prepare(r.make<record>());
        } else {
            i.prepare(r.make<record>());
        }
        if constexpr (can_try || !std::is_same_v<values, std::tuple<>>) // Else nobody asks where the values lie.
            r.state = plain_result ? exec::await_state::plain : exec::await_state::idle;
        auto& o = r.get<record>();
        o.run = Init::drops || hears_of_completion || has_own_slot<Init> ? &awaited_run : nullptr;
        if constexpr (has_own_slot<Init>)
            listen_or([&] { Init::drop(o); }, Init::slot_of(o), o, *i.home());
        if (r.home != i.home()) [[unlikely]] {
            r.notes |= await_record::is_foreign;
            r.home->count_work(+1);
        }
        // An op that cannot be asked is waited for: the request is heeded when it is run.
        if constexpr (is_asked_in_place)
            if (r.notes & await_record::can_be_asked) [[unlikely]]
                return submit_askable(p, r);
        // The coroutine may be running again before this returns: nothing of the frame is touched below.
        if constexpr (requires { i.submit_last(o); })
            i.submit_last(o);
        else
            i.submit(o);
        return true;
    }
    /// Instead of null, for records that own something which must not be lost when they are abandoned. Also for those
    /// that have to hear when they have completed.
    static void awaited_run(op* o, op_mode mode) {
        o->run = nullptr;
        if constexpr (has_own_slot<Init>)
            stop_listening(Init::slot_of(static_cast<record&>(*o)), static_cast<record&>(*o));
        if (mode == op_mode::complete) {
            op_has_completed<Init>(static_cast<record&>(*o));
            if constexpr (Init::drops) {
                auto& r = await_record::of(*o);
                if (r.home != exec::this_thread.current) [[unlikely]] {
                    o->run = &run_at_home;
                    r.home->resume_soon(*o);
                    return;
                }
            }
            exec::this_thread.current->resume_op(*o);
            return;
        }
        Init::drop(static_cast<record&>(*o));
        loop::abandon(*o);
    }
    /// Of an op that owns something and was sent to the coroutine, which may be destroyed before it gets there.
    static void run_at_home(op* o, op_mode mode) {
        o->run = nullptr;
        if (mode == op_mode::complete)
            return loop::run_outside(*o);
        Init::drop(static_cast<record&>(*o));
        loop::abandon(*o);
    }
    static bool submit_askable(void* p, await_record& r) {
        Init& i = in(p);
        auto& o = r.get<record>();
        o.run = &asked_run;
        o.cancel = reinterpret_cast<void*>(next_ticket());
        submit_asked({functions.cancel, p, &r}, *i.home(), &submit);
        return true;
    }
    static void submit(void* p, await_record& r) noexcept { in(p).submit(r.get<record>()); }
    static void asked_run(op* o, op_mode mode) { awaited_run(o, asked_await_has_ended(await_record::of(*o), mode)); }
    static void cancel(void* p, await_record& r, cancellation_type type) noexcept {
        auto& o = r.get<record>();
        auto const how = cancellation_of(o, *in(p).home());
        if (!!(type & how.accepts))
            how.request(o);
    }
    static constexpr auto cancel_function() {
        decltype(functions_type::cancel) f = nullptr;
        if constexpr (is_asked_in_place)
            f = &cancel;
        return f;
    }
    static values take([[maybe_unused]] void* p, await_record& r) {
        if constexpr (takes_here<Init>)
            return in(p).take_here(r.get<record>());
        else
            return Init::take(r.get<record>());
    }

    static void start(void* p, handler_ref<std::decay_t<Args>...> h) {
        if constexpr (takes_here<Init> || has_own_slot<Init>)
            in(p)(boxed_handler<std::decay_t<Args>...>(h));
        else
            start_erased(p, h);
    }
    static void start_erased(void* p, handler_ref<std::decay_t<Args>...> h) {
        expect_erased_slot_is_heard<Init>(h);
        using op_type = erased_op<Init, std::decay_t<Args>...>;
        Init& i = in(p);
        auto const handler_end =
            op_type::handler_offset() + (h.functions->size + 15) / 16 * 16; // The extra bytes begin aligned.
        auto bytes = handler_end;
        if constexpr (needs_extra_bytes<Init>)
            bytes += i.extra_bytes();
        auto* o = ::new (h.functions->associations->allocate(h.handler, bytes)) op_type;
        o->functions = h.functions;
        o->bytes = bytes;
        o->foreign = h.functions->foreign_loop(h.handler, i.home());
        if (o->foreign)
            o->foreign->work_started();
        h.functions->move(h.handler, o->handler());
        if constexpr (needs_extra_bytes<Init>)
            i.prepare(*o, reinterpret_cast<std::byte*>(o) + handler_end);
        else
            i.prepare(*o);
        o->run = &op_type::run_it;
        if constexpr (cancellable_record<record>)
            if (h.functions->slot) [[unlikely]]
                listen_or([o] { op_type::run_it(o, op_mode::abandon); }, o->functions->slot(o->handler()), *o,
                          *i.home());
        i.submit(*o);
    }
    static typename unwrapped<values>::type take_value(await_record& r)
        requires takes_value<Init>
    {
        return Init::take_value(r.get<record>());
    }
    static constexpr auto take_value_function() {
        decltype(functions_type::take_value) f = nullptr;
        if constexpr (takes_value<Init>)
            f = &take_value;
        return f;
    }
    static constexpr functions_type functions{base::relocate_function(),
                                              base::destroy_function(),
                                              &home,
                                              nullptr,
                                              can_try ? &try_step : nullptr,
                                              &start_await,
                                              &take,
                                              &start,
                                              base::block_function(),
                                              base::describe_function(),
                                              cancel_function(),
                                              takes_requests<Init>(),
                                              take_value_function()};
};

/// Keeps a result that is read in the same breath. A plain result is left where no call is needed to read it.
template <class Values> void store_at_once(await_record& r, Values&& v) {
    if constexpr (plain_values<Values>) {
        if (!std::get<0>(v)) [[likely]] {
            op_result& result = r.make<op>().result;
            result.error = 0;
            if constexpr (std::tuple_size_v<Values> == 2)
                result.n = std::get<1>(v);
            r.state = exec::await_state::plain;
            return;
        }
    }
    store_result(r, std::forward<Values>(v));
}

/// Awaited, the operation is nothing but a way through the queue of the coroutine's own executor.
template <class Init>
concept gives_way = requires { typename Init::gives_way; };

template <class Init, class... Args> struct generic_functions
    : stored_initiation<Init, typename initiation_functions<Args...>::values> {
    using base = stored_initiation<Init, typename initiation_functions<Args...>::values>;
    using base::in;
    using functions_type = initiation_functions<Args...>;
    using values = typename functions_type::values;
    static constexpr bool can_try = tries_plainly<Init> || tries_as<Init, values> || tries_simply<Init, values>;

    static loop* home(void const* p) noexcept {
        if constexpr (requires(Init const& i) {
                          { i.home() } -> std::same_as<loop*>;
                      })
            return in(const_cast<void*>(p)).home();
        else if constexpr (requires(Init const& i) { i.get_executor(); })
            return exec::loop_of(in(const_cast<void*>(p)).get_executor());
        else
            return nullptr;
    }
    static consteval bool find_executor() {
        if constexpr (requires(Init const& i) { i.get_executor(); }) {
            using type = std::decay_t<decltype(std::declval<Init const&>().get_executor())>;
            return !exec::always_loop<type> && std::convertible_to<type, any_io_executor>;
        } else {
            return false;
        }
    }
    static constexpr bool has_executor = find_executor();
    static constexpr bool is_asked_in_place = false;
    static any_io_executor executor(void const* p)
        requires has_executor
    {
        return in(const_cast<void*>(p)).get_executor();
    }
    static constexpr auto executor_function() {
        any_io_executor (*f)(void const*) = nullptr;
        if constexpr (has_executor)
            f = &executor;
        return f;
    }
    FAIRLEAD_ALWAYS_INLINE static step try_step(void* p, await_record& r) {
        if constexpr (can_try) {
            if (exec::this_thread.item.take()) [[likely]]
                return attempt(p, r);
            return try_after_spending(p, r);
        }
        return step::not_ready;
    }
    /// try_step where the units are used up. Not inlined: spend_slow() may write to any memory, as far as the compiler
    /// knows. An attempt behind both ways would read the whole initiation again.
    FAIRLEAD_NOINLINE static step try_after_spending(void* p, await_record& r)
        requires can_try
    {
        if (!spend_more_for(r)) {
            r.state = exec::await_state::exhausted;
            return step::not_ready;
        }
        return attempt(p, r);
    }
    FAIRLEAD_ALWAYS_INLINE static step attempt(void* p, await_record& r)
        requires can_try
    {
        Init& i = in(p);
        if constexpr (tries_plainly<Init>) {
            bool const done = i.try_step(r.make<op>().result);
            r.state = done ? exec::await_state::plain : exec::await_state::idle;
            if (done)
                return step::ready;
        } else {
            r.state = exec::await_state::idle;
            if (auto v = tried<values>(i)) {
                store_at_once(r, std::move(*v));
                return step::ready;
            }
        }
        return step::not_ready;
    }
    static bool start_await(void* p, await_record& r) {
        if (r.notes & await_record::can_be_asked) [[unlikely]] {
            if (auto const refused = refusal_of(r); refused != refusal::none)
                return refused == refusal::suspends;
            if (!can_try || r.state != exec::await_state::exhausted) {
                if constexpr (requires { in(p).hears_requests(); })
                    if (!in(p).hears_requests())
                        return start_heard<false, std::decay_t<Args>...>(&start, p, r);
                return start_heard<can_be_cancelled<Init>(), std::decay_t<Args>...>(&start, p, r);
            }
        }
        if constexpr (gives_way<Init>) {
            if (r.home) { // whose queue then is all that there is to go through
                r.state = exec::await_state::idle;
                loop::yield(r);
                return true;
            }
        }
        if constexpr (can_try) {
            if (r.state == exec::await_state::exhausted) {
                retry_op<functions_type>::queue(r, &functions, p);
                return true;
            }
        }
        r.state = exec::await_state::idle;
        return start_with_handler(r, [&] { std::move(in(p))(await_handler<std::decay_t<Args>...>(&r)); });
    }
    static values take(void*, await_record& r) { return take_result<values>(r); }
    static void start(void* p, handler_ref<std::decay_t<Args>...> h) {
        expect_erased_slot_is_heard<Init>(h);
        std::move(in(p))(boxed_handler<std::decay_t<Args>...>(h));
    }
    static constexpr functions_type functions{base::relocate_function(),
                                              base::destroy_function(),
                                              &home,
                                              executor_function(),
                                              can_try ? &try_step : nullptr,
                                              &start_await,
                                              &take,
                                              &start,
                                              base::block_function(),
                                              base::describe_function(),
                                              nullptr,
                                              takes_requests<Init>()};
};

/// An initiation too large for an async_op, or one whose move may throw, in a counted block of the recycler. Without
/// memory it has none. Nothing else says so: an operation that needs no block has nothing to ask (P0055R1: initiating
/// functions are noexcept).
template <class Init> class boxed_initiation {
public:
    template <class I>
    FAIRLEAD_ALWAYS_INLINE explicit boxed_initiation(std::in_place_t,
                                                     I&& i) noexcept(std::is_nothrow_constructible_v<Init, I>) {
        void* const block = exec::recycle_take_or_null(sizeof(Init));
        if constexpr (std::is_nothrow_constructible_v<Init, I>) {
            init_ = block ? ::new (block) Init(std::forward<I>(i)) : nullptr;
            if constexpr (may_lack_memory<Init>)
                if (block && init_->lacks_memory()) [[unlikely]]
                    drop();
        } else {
            try {
                init_ = block ? ::new (block) Init(std::forward<I>(i)) : nullptr;
            } catch (...) {
                exec::recycle_free(block);
                throw;
            }
        }
    }
    boxed_initiation(boxed_initiation&& other) noexcept : init_(base::taken_from(other.init_)) {}
    boxed_initiation& operator=(boxed_initiation&&) = delete;
    ~boxed_initiation() {
        if (init_)
            drop();
    }
    /// Null: there was no memory.
    Init* get() const noexcept { return init_; }

private:
    void drop() noexcept {
        init_->~Init();
        exec::recycle_free(base::taken_from(init_));
    }

    Init* init_;
};

/// The functions of Base applied to an initiation that lies behind a pointer.
template <template <class, class...> class Base, class Init, class... Args> struct boxed_functions {
    using base = Base<Init, Args...>;
    using functions_type = typename base::functions_type;
    using values = typename base::values;
    using box = boxed_initiation<Init>;
    static void* inner_or_null(void const* p) noexcept {
        return std::launder(static_cast<box*>(const_cast<void*>(p)))->get();
    }
    /// Of an operation that starts.
    static void* inner_to_start(void* p) {
        if (void* const i = inner_or_null(p)) [[likely]]
            return i;
        start_without_memory();
    }
    static void relocate(void* from, void* to) noexcept {
        auto* b = std::launder(static_cast<box*>(from));
        ::new (to) box(std::move(*b));
        b->~box();
    }
    static void destroy(void* p) noexcept { std::launder(static_cast<box*>(p))->~box(); }
    static loop* home(void const* p) noexcept {
        void* const i = inner_or_null(p);
        return i ? base::home(i) : nullptr;
    }
    static any_io_executor executor(void const* p) {
        void* const i = inner_or_null(p);
        return i ? base::functions.executor(i) : any_io_executor();
    }
    static step try_step(void* p, await_record& r) { return base::try_step(inner_to_start(p), r); }
    static bool start_await(void* p, await_record& r) { return base::start_await(inner_to_start(p), r); }
    static void start(void* p, handler_ref<std::decay_t<Args>...> h) { base::start(inner_to_start(p), h); }
    static values block(void* p) { return base::functions.block(inner_to_start(p)); }
    // Of an operation that has been started.
    static values take(void* p, await_record& r) { return base::take(inner_or_null(p), r); }
    static std::string describe(void const* p, await_record const& r) {
        return base::functions.describe(inner_or_null(p), r);
    }
    static void cancel(void* p, await_record& r, cancellation_type type) noexcept {
        base::functions.cancel(inner_or_null(p), r, type);
    }
    static constexpr functions_type functions{&relocate,
                                              &destroy,
                                              &home,
                                              base::has_executor ? &executor : nullptr,
                                              base::can_try ? &try_step : nullptr,
                                              &start_await,
                                              &take,
                                              &start,
                                              base::can_block ? &block : nullptr,
                                              describes_itself<Init> ? &describe : nullptr,
                                              base::is_asked_in_place ? &cancel : nullptr,
                                              takes_requests<Init>(),
                                              base::functions.take_value};
};

/// Of initiations that an async_op with so much storage holds. A larger one lies in a block.
template <class Init, std::size_t Storage> inline constexpr bool lies_inside =
    sizeof(Init) <= Storage && alignof(Init) <= 8 && std::is_nothrow_move_constructible_v<Init>;

/// The table of an initiation, instantiated here.
template <class Init, std::size_t Storage, class... Args>
consteval initiation_functions<Args...> const& instantiate_table() {
    if constexpr (lies_inside<Init, Storage> && primitive_initiation<Init>)
        return primitive_functions<Init, Args...>::functions;
    else if constexpr (lies_inside<Init, Storage>)
        return generic_functions<Init, Args...>::functions;
    else if constexpr (primitive_initiation<Init>)
        return boxed_functions<primitive_functions, Init, Args...>::functions;
    else
        return boxed_functions<generic_functions, Init, Args...>::functions;
}
// A table that does not depend on the program is compiled once, in the library (net/primitives.cpp). Given are the
// initiation and the arguments with which it completes.
template <class Init, class... Args> struct compiled_table {};
#define FAIRLEAD_COMPILED_TABLE(INITIATION, ...)                                                                       \
    template <> struct operation::compiled_table<INITIATION, __VA_ARGS__> {                                            \
        FAIRLEAD_EXPORT static initiation_functions<__VA_ARGS__> const functions;                                      \
    }

/// The table of an initiation in an async_op, wherever it is compiled.
template <class Init, std::size_t Storage, class... Args> consteval initiation_functions<Args...> const* find_table() {
#ifdef __OPTIMIZE__ // An optimiser that sees the table of a primitive calls its functions directly.
    constexpr bool is_to_be_seen = primitive_initiation<Init>;
#else
    constexpr bool is_to_be_seen = false;
#endif
    if constexpr (!is_to_be_seen && requires { compiled_table<Init, Args...>::functions; })
        return &compiled_table<Init, Args...>::functions;
    else
        return &instantiate_table<Init, Storage, Args...>();
}

} // namespace fairlead::impl::operation
