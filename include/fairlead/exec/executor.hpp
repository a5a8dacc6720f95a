// Executors: where handlers run. The concept, the polymorphic wrapper, and the guard that keeps a loop from ending.
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/recycler.hpp>

#include <concepts>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {

/// Thrown when an empty any_io_executor is used.
class FAIRLEAD_EXPORT bad_executor : public std::exception {
public:
    char const* what() const noexcept override;
};

namespace detail {

/// A function in a recycled block that is an op at the same time: what execute() queues.
template <class F> struct function_op : op {
    F function;

    template <class G> explicit function_op(G&& g) : function(std::forward<G>(g)) {
        run = &function_op::run_it;
        cancel = nullptr;
    }

    static function_op* make(auto&& f) {
        void* block = recycle_allocate(sizeof(function_op));
        try {
            return ::new (block) function_op(std::forward<decltype(f)>(f));
        } catch (...) {
            recycle_free(block);
            throw;
        }
    }

    static void run_it(op* base, op_mode mode) {
        auto* self = static_cast<function_op*>(base);
        F f(std::move(self->function));
        self->~function_op();
        recycle_free(self); // Before the call: the function's next operation takes the same block.
        if (mode == op_mode::complete)
            std::move(f)();
    }
};

/// An op that will be run or abandoned exactly once, as a move-only function object for executors that users write.
class op_function {
public:
    explicit op_function(op& o) noexcept : op_(&o) {}
    op_function(op_function&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
    op_function& operator=(op_function&&) = delete;
    ~op_function() {
        if (op_)
            loop::abandon(*op_);
    }
    op& release() noexcept { return *std::exchange(op_, nullptr); }
    void operator()() { loop::run_outside(release()); }

private:
    op* op_;
};

struct executor_functions {
    bool native; ///< the storage holds a loop*
    void (*copy)(void const* from, void* to);
    void (*destroy)(void*) noexcept;
    bool (*equal)(void const*, void const*) noexcept;
    void (*execute)(void const*, op_function);
    std::type_info const& (*type)() noexcept;
    execution_context& (*context)(void const*);
    void (*work)(void const*, int change) noexcept;
    bool (*runs_here)(void const*) noexcept;
    void const* (*target)(void const*) noexcept;
};

template <class E>
concept has_loop = requires(E const& e) {
    { e.native_loop() } noexcept -> std::convertible_to<loop*>;
};

template <class E>
concept tracks_work = requires(E const& e) {
    e.on_work_started();
    e.on_work_finished();
};

/// An executor that does not fit, in one counted block that all copies share.
template <class E> class boxed_executor {
public:
    explicit boxed_executor(E const& e) : shared_(new shared(e)) {}
    boxed_executor(boxed_executor const& other) noexcept : shared_(other.shared_) {
        shared_->references.fetch_add(1, std::memory_order_relaxed);
    }
    boxed_executor& operator=(boxed_executor const&) = delete;
    ~boxed_executor() {
        if (shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete shared_;
    }
    E const& get() const noexcept { return shared_->executor; }

private:
    struct shared {
        explicit shared(E const& e) : executor(e) {}
        E executor;
        std::atomic<std::size_t> references{1};
    };
    shared* shared_;
};

template <class E> inline constexpr bool fits_any_io_executor = sizeof(E) <= 24 && alignof(E) <= 8;

template <class E> struct executor_table {
    using stored = std::conditional_t<fits_any_io_executor<E>, E, boxed_executor<E>>;
    static stored const& as_stored(void const* p) noexcept { return *static_cast<stored const*>(p); }
    static E const& in(void const* p) noexcept {
        if constexpr (fits_any_io_executor<E>)
            return as_stored(p);
        else
            return as_stored(p).get();
    }
    static void const* target(void const* p) noexcept { return &in(p); }
    static void copy(void const* from, void* to) { ::new (to) stored(as_stored(from)); }
    static void destroy(void* p) noexcept { static_cast<stored*>(p)->~stored(); }
    static bool equal(void const* a, void const* b) noexcept { return in(a) == in(b); }
    static void execute(void const* p, op_function f) { in(p).execute(std::move(f)); }
    static std::type_info const& type() noexcept { return typeid(E); }
    static execution_context& context(void const* p) { return in(p).context(); }
    static void work(void const* p, int change) noexcept {
        if constexpr (tracks_work<E>) {
            if (change > 0)
                in(p).on_work_started();
            else
                in(p).on_work_finished();
        }
    }
    static bool runs_here(void const* p) noexcept {
        if constexpr (requires(E const& e) { e.running_in_this_thread(); })
            return in(p).running_in_this_thread();
        else
            return false;
    }
    static constexpr executor_functions functions{has_loop<E>, &copy,    &destroy, &equal,     &execute,
                                                  &type,       &context, &work,    &runs_here, &target};
};

} // namespace detail

/// What users may write as an executor: copyable, comparable, belongs to a context, runs a move-only function.
// The members come first: only then is comparing asked for, which would otherwise try to make an any_io_executor.
template <class E>
concept executor = requires(E const& e, void (*f)()) {
    { e.context() } -> std::convertible_to<execution_context&>;
    e.execute(f);
} && std::copy_constructible<E> && std::equality_comparable<E>;

/// What objects and operations take in place of an executor: a context that has one.
template <class T>
concept execution_context_type = std::derived_from<T, execution_context> && requires(T& c) { c.get_executor(); };

/// Any executor behind one type of 32 bytes; the default executor of every I/O object.
/// Our own executors lie inside as one pointer, without a reference count and recognised by one compare; executors of
/// users up to 24 bytes lie inside too, larger ones in one counted block. Copying an executor must not throw.
class any_io_executor {
public:
    static constexpr std::size_t storage_size = 24;

    any_io_executor() noexcept : functions_(nullptr) {}
    any_io_executor(std::nullptr_t) noexcept : functions_(nullptr) {}
    any_io_executor(any_io_executor const& other) noexcept : functions_(other.functions_) { copy_from(other); }

    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_io_executor> && executor<std::decay_t<E>> &&
                 !requires(std::decay_t<E> const& other) { other.operator any_io_executor(); })
    any_io_executor(E&& e) : functions_(&detail::executor_table<std::decay_t<E>>::functions) {
        using target_type = std::decay_t<E>;
        if constexpr (detail::has_loop<target_type>) {
            static_assert(sizeof(target_type) == sizeof(loop*));
            loop* l = e.native_loop();
            std::memcpy(storage_, &l, sizeof l);
        } else {
            using stored = typename detail::executor_table<target_type>::stored;
            ::new (static_cast<void*>(storage_)) stored(std::forward<E>(e));
        }
    }

    any_io_executor& operator=(any_io_executor const& other) noexcept {
        if (this != &other) {
            any_io_executor copy(other);
            destroy();
            functions_ = copy.functions_;
            copy_from(copy);
        }
        return *this;
    }
    ~any_io_executor() { destroy(); }

    explicit operator bool() const noexcept { return functions_ != nullptr; }

    /// The loop behind this executor, null for executors that users wrote.
    loop* native_loop() const noexcept {
        if (functions_ && functions_->native) {
            loop* l;
            std::memcpy(&l, storage_, sizeof l);
            return l;
        }
        return nullptr;
    }

    /// Throws bad_executor when empty.
    execution_context& context() const { return check().context(storage_); }

    /// Runs f() in the executor's way. Throws bad_executor when empty.
    template <class F> void execute(F&& f) const {
        auto& functions = check();
        if constexpr (std::same_as<std::decay_t<F>, detail::op_function>)
            functions.execute(storage_, std::forward<F>(f));
        else
            functions.execute(storage_,
                              detail::op_function(*detail::function_op<std::decay_t<F>>::make(std::forward<F>(f))));
    }

    void on_work_started() const noexcept {
        if (functions_)
            functions_->work(storage_, +1);
    }
    void on_work_finished() const noexcept {
        if (functions_)
            functions_->work(storage_, -1);
    }

    /// False also when the executor cannot tell.
    bool running_in_this_thread() const noexcept { return functions_ && functions_->runs_here(storage_); }

    std::type_info const& target_type() const noexcept { return functions_ ? functions_->type() : typeid(void); }
    template <class E> E const* target() const noexcept {
        return functions_ && functions_->type() == typeid(E) ? static_cast<E const*>(functions_->target(storage_))
                                                             : nullptr;
    }

    // Both of this type, without conversions: whether other executors can be compared would otherwise depend on whether
    // they can be converted, which depends on whether they can be compared.
    template <std::derived_from<any_io_executor> A, std::derived_from<any_io_executor> B>
    friend bool operator==(A const& a_of, B const& b_of) noexcept {
        any_io_executor const &a = a_of, &b = b_of;
        if (!a.functions_ || !b.functions_)
            return a.functions_ == b.functions_;
        return a.functions_->type() == b.functions_->type() && a.functions_->equal(a.storage_, b.storage_);
    }

    template <std::same_as<any_io_executor> A, class E>
        requires(!std::derived_from<E, any_io_executor> && std::convertible_to<E const&, any_io_executor>)
    friend bool operator==(A const& a, E const& e) {
        return a == any_io_executor(e);
    }

private:
    detail::executor_functions const& check() const {
        if (!functions_)
            throw bad_executor();
        return *functions_;
    }
    void copy_from(any_io_executor const& other) noexcept {
        if (!functions_)
            return;
        if (functions_->native)
            std::memcpy(storage_, other.storage_, sizeof(loop*));
        else
            functions_->copy(other.storage_, storage_);
    }
    void destroy() noexcept {
        if (functions_ && !functions_->native)
            functions_->destroy(storage_);
    }

    detail::executor_functions const* functions_;
    alignas(8) std::byte storage_[storage_size];
};
static_assert(sizeof(any_io_executor) == 32, "the size of any_io_executor is part of the ABI");

/// Any executor that can run handlers. Here every executor that can can also carry I/O objects, so it is the same type.
using any_completion_executor = any_io_executor;

/// The executor of a loop: one pointer, trivially copyable, recognised by whoever holds the loop.
class loop_executor {
public:
    explicit loop_executor(loop* l) noexcept : loop_(l) {}

    execution_context& context() const noexcept { return loop_->context(); }
    bool running_in_this_thread() const noexcept { return loop_->is_running_this(); }
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, detail::op_function>)
            loop_->post(f.release());
        else
            loop_->post(*detail::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
    }
    void on_work_started() const noexcept { loop_->work_started(); }
    void on_work_finished() const noexcept { loop_->work_finished(); }
    loop* native_loop() const noexcept { return loop_; }

    friend bool operator==(loop_executor const& a, loop_executor const& b) noexcept { return a.loop_ == b.loop_; }

protected:
    loop* loop_;
};

namespace detail {

/// True when every executor of this type runs a loop of the library.
template <class E> inline constexpr bool always_loop = has_loop<E> && !std::derived_from<E, any_io_executor>;

/// Hands an op to whatever runs it.
template <class E> void execute_op(E const& e, op& o) {
    if constexpr (always_loop<E>) {
        e.native_loop()->post(o);
    } else {
        if constexpr (has_loop<E>)
            if (loop* l = e.native_loop()) {
                l->post(o);
                return;
            }
        e.execute(op_function(o));
    }
}

/// Is the calling thread inside this executor, so that what is given to it may be run at once?
template <class E> bool runs_here(E const& e) noexcept {
    if constexpr (requires { e.running_in_this_thread(); })
        return e.running_in_this_thread();
    else
        return false;
}

/// The loop of an executor, if it has one.
template <class E> loop* loop_of(E const& e) noexcept {
    if constexpr (has_loop<E>)
        return e.native_loop();
    else
        return nullptr;
}

} // namespace detail

namespace detail {

/// The home of coroutines whose executor runs no loop of ours.
class executor_resumer final : public resumer {
public:
    explicit executor_resumer(any_io_executor const& e) noexcept : executor_(e) {}
    /// An executor that throws here has promised to run the coroutine and cannot: the process ends.
    void resume_soon(op& o) noexcept override { executor_.execute(op_function(o)); }
    void count_work(int change) noexcept override {
        if (change > 0)
            executor_.on_work_started();
        else
            executor_.on_work_finished();
    }
    bool runs_here() const noexcept override { return executor_.running_in_this_thread(); }
    any_io_executor const* as_executor() const noexcept override { return &executor_; }

private:
    any_io_executor const& executor_;
};

} // namespace detail

/// Keeps run() of the executor's context from returning for as long as it owns work.
template <class Executor> class executor_work_guard {
public:
    using executor_type = Executor;

    explicit executor_work_guard(Executor const& e) noexcept : executor_(e), owns_(true) { started(); }
    executor_work_guard(executor_work_guard const& other) noexcept : executor_(other.executor_), owns_(other.owns_) {
        if (owns_)
            started();
    }
    executor_work_guard(executor_work_guard&& other) noexcept
        : executor_(other.executor_),
          owns_(std::exchange(other.owns_, false)) {}
    executor_work_guard& operator=(executor_work_guard const&) = delete;
    ~executor_work_guard() { reset(); }

    executor_type get_executor() const noexcept { return executor_; }
    bool owns_work() const noexcept { return owns_; }
    void reset() noexcept {
        if (std::exchange(owns_, false)) {
            if constexpr (detail::tracks_work<Executor>)
                executor_.on_work_finished();
        }
    }

private:
    void started() noexcept {
        if constexpr (detail::tracks_work<Executor>)
            executor_.on_work_started();
    }
    Executor executor_;
    bool owns_;
};

template <executor Executor> executor_work_guard<Executor> make_work_guard(Executor const& e) {
    return executor_work_guard<Executor>(e);
}
template <class Context>
    requires execution_context_type<Context>
auto make_work_guard(Context& c) {
    return executor_work_guard<typename Context::executor_type>(c.get_executor());
}
template <class Object>
    requires(!executor<Object> && !execution_context_type<Object> &&
             requires(Object& o) { typename Object::executor_type; })
auto make_work_guard(Object& o) {
    return executor_work_guard<typename Object::executor_type>(o.get_executor());
}

} // namespace fairlead
