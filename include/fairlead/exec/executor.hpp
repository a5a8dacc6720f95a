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
            op_->run(op_, op_mode::abandon);
    }
    op& release() noexcept { return *std::exchange(op_, nullptr); }
    void operator()() {
        auto* o = std::exchange(op_, nullptr);
        o->run(o, op_mode::complete);
    }

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

template <class E> struct executor_table {
    static E const& in(void const* p) noexcept { return *static_cast<E const*>(p); }
    static void copy(void const* from, void* to) { ::new (to) E(in(from)); }
    static void destroy(void* p) noexcept { static_cast<E*>(p)->~E(); }
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
    static constexpr executor_functions functions{has_loop<E>, &copy, &destroy, &equal,
                                                  &execute,    &type, &context, &work};
};

} // namespace detail

/// What users may write as an executor: copyable, comparable, belongs to a context, runs a move-only function.
// The members come first: only then is comparing asked for, which would otherwise try to make an any_io_executor.
template <class E>
concept executor = requires(E const& e, void (*f)()) {
    { e.context() } -> std::convertible_to<execution_context&>;
    e.execute(f);
} && std::copy_constructible<E> && std::equality_comparable<E>;

template <class T>
concept execution_context_type = std::derived_from<T, execution_context> && requires(T& c) { c.get_executor(); };

/// Any executor behind one type of 32 bytes; the default executor of every I/O object.
/// Our own executors lie inside as one pointer, without a reference count and recognised by one compare; executors of
/// users up to 24 bytes lie inside too, larger ones do not compile. Copying an executor must not throw.
class any_io_executor {
public:
    static constexpr std::size_t storage_size = 24;

    any_io_executor() noexcept : functions_(nullptr) {}
    any_io_executor(std::nullptr_t) noexcept : functions_(nullptr) {}
    any_io_executor(any_io_executor const& other) noexcept : functions_(other.functions_) { copy_from(other); }

    template <class E>
        requires(!std::same_as<std::decay_t<E>, any_io_executor> && executor<std::decay_t<E>>)
    any_io_executor(E&& e) : functions_(&detail::executor_table<std::decay_t<E>>::functions) {
        using target_type = std::decay_t<E>;
        static_assert(sizeof(target_type) <= storage_size && alignof(target_type) <= 8,
                      "keep an executor within 24 bytes: let it hold a pointer to its state");
        if constexpr (detail::has_loop<target_type>) {
            static_assert(sizeof(target_type) == sizeof(loop*));
            loop* l = e.native_loop();
            std::memcpy(storage_, &l, sizeof l);
        } else {
            ::new (static_cast<void*>(storage_)) target_type(std::forward<E>(e));
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

    std::type_info const& target_type() const noexcept { return functions_ ? functions_->type() : typeid(void); }
    template <class E> E const* target() const noexcept {
        return functions_ && functions_->type() == typeid(E) ? reinterpret_cast<E const*>(storage_) : nullptr;
    }

    friend bool operator==(any_io_executor const& a, any_io_executor const& b) noexcept {
        if (!a.functions_ || !b.functions_)
            return a.functions_ == b.functions_;
        return a.functions_->type() == b.functions_->type() && a.functions_->equal(a.storage_, b.storage_);
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

/// The executor of a loop: one pointer, trivially copyable, recognised by whoever holds the loop.
class loop_executor {
public:
    explicit loop_executor(loop* l) noexcept : loop_(l) {}

    execution_context& context() const noexcept { return loop_->context(); }
    bool running_in_this_thread() const noexcept { return loop_->mine(); }
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
template <class E> inline constexpr bool always_loop = has_loop<E> && !std::same_as<E, any_io_executor>;

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

/// The loop of an executor, if it has one.
template <class E> loop* loop_of(E const& e) noexcept {
    if constexpr (has_loop<E>)
        return e.native_loop();
    else
        return nullptr;
}

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
