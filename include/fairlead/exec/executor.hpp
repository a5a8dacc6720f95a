// Executors: where handlers run. The polymorphic wrapper, and the executor of a loop.
#pragma once

#include <fairlead/base/copy_bytes.hpp>
#include <fairlead/exec/bad_executor.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/executor_concept.hpp>
#include <fairlead/exec/executor_table.hpp>
#include <fairlead/exec/function_op.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/exec/resumer.hpp>
#include <fairlead/exec/ts_members.hpp>
#include <fairlead/exec/work_guard.hpp>

#include <concepts>
#include <exception>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace fairlead {
namespace impl::sender {
template <class Scheduler> class schedule_sender;
} // namespace impl::sender

/// Any executor behind one type of 32 bytes; the default executor of every I/O object.
/// The library's executors lie inside as one pointer, without a reference count; one compare recognises them. Executors
/// of users up to 24 bytes lie inside, too, larger ones in one counted block. Copying an executor must not throw.
class any_io_executor {
public:
    static constexpr std::size_t storage_size = 24;

    any_io_executor() noexcept : functions_(nullptr) {}
    any_io_executor(std::nullptr_t) noexcept : functions_(nullptr) {}
    any_io_executor(any_io_executor const& other) noexcept : functions_(other.functions_) { copy_from(other); }
    any_io_executor(std::nothrow_t, any_io_executor const& other) noexcept : any_io_executor(other) {}
    /// Empty when there is no memory for an executor that does not fit.
    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_io_executor> && io_executor<std::decay_t<E>>)
    any_io_executor(std::nothrow_t, E&& e) noexcept : functions_(nullptr) {
        try {
            *this = any_io_executor(std::forward<E>(e));
        } catch (std::bad_alloc const&) { // empty, as said
        }
    }

    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_io_executor> && io_executor<std::decay_t<E>> &&
                 !requires(std::decay_t<E> const& other) { other.operator any_io_executor(); })
    any_io_executor(E&& e) : any_io_executor(impl::exec::any_executor_at_all(), std::forward<E>(e)) {}

    /// For handlers, whose executors need no context; context() throws bad_executor then.
    template <class E> any_io_executor(impl::exec::any_executor_at_all, E&& e)
        : functions_(impl::exec::executor_table_of<std::decay_t<E>>::functions) {
        using target_type = std::decay_t<E>;
        if constexpr (impl::exec::is_loop_pointer<target_type>) {
            static_assert(sizeof(target_type) == sizeof(loop*));
            loop* l = e.native_loop();
            impl::base::copy_bytes(storage_, &l, sizeof l);
        } else {
            using stored = typename impl::exec::executor_table<target_type>::stored;
            if constexpr (requires { e.plain(); }) // So that an executor compares equal after there and back.
                if (auto const* const plain = e.plain()) {
                    functions_ = nullptr;
                    *this = any_io_executor(*plain);
                    return;
                }
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
    void swap(any_io_executor& other) noexcept {
        any_io_executor const copy(other);
        other = *this;
        *this = copy;
    }

    explicit operator bool() const noexcept { return functions_ != nullptr; }

    /// The loop behind this executor, null for executors that users wrote.
    loop* native_loop() const noexcept {
        if (functions_ && functions_->has_loop) {
            loop* l;
            impl::base::copy_bytes(&l, storage_, sizeof l);
            return l;
        }
        return nullptr;
    }

    /// Throws bad_executor when empty.
    execution_context& context() const { return check().context(storage_); }

    /// Runs f() in the executor's way. Throws bad_executor when empty.
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
            queue(std::forward<F>(f)); // The library's own, which relies on that.
        else
            check().execute(
                storage_, impl::exec::op_function(*impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f))));
    }
    /// Runs f(), never inside this call.
    template <class F> void queue(F&& f) const {
        auto& functions = check();
        if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
            functions.queue(storage_, std::forward<F>(f));
        else
            functions.queue(
                storage_, impl::exec::op_function(*impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f))));
    }

    /// As execute() of the executor inside, which may run the op inside the call.
    void dispatch_op(impl::exec::op_function f) const { check().execute(storage_, std::move(f)); }

    /// This executor, or one like it that never runs a function inside the call.
    any_io_executor never_inline() const {
        return functions_ && functions_->properties
                   ? functions_->properties->prefer(storage_, impl::exec::any_property::never)
                   : *this;
    }
    /// For fairlead::require, prefer and query of <fairlead/legacy/with_properties.hpp>; they throw bad_executor when
    /// empty. Only blocking.never can be required of whatever there is; an executor that a user wrote may take no
    /// notice of what is preferred.
    template <class P, class Answers = impl::exec::properties_of_any> auto require(P const& p) const
        -> decltype(Answers::require(*this, p)) {
        return Answers::require(*this, p);
    }
    template <class P, class Answers = impl::exec::properties_of_any> auto prefer(P const& p) const
        -> decltype(Answers::prefer(*this, p)) {
        return Answers::prefer(*this, p);
    }
    template <class P, class Answers = impl::exec::properties_of_any> auto query(P const& p) const
        -> decltype(Answers::query(*this, p)) {
        return Answers::query(*this, p);
    }

    void on_work_started() const noexcept {
        if (functions_)
            functions_->work(storage_, +1);
    }
    void on_work_finished() const noexcept {
        if (functions_)
            functions_->work(storage_, -1);
    }

    /// As a scheduler of C++26 (sender/scheduler.hpp).
    using scheduler_concept = stdexec::scheduler_tag;
    template <class Executor = any_io_executor> impl::sender::schedule_sender<Executor> schedule() const noexcept;

    /// False also when the executor cannot tell.
    bool running_in_this_thread() const noexcept { return functions_ && functions_->runs_here(storage_); }

    std::type_info const& target_type() const noexcept { return functions_ ? functions_->type() : typeid(void); }
    /// The executor inside if it is an E, else null; of void, whatever it is.
    template <class E> E const* target() const noexcept {
        return functions_ && (std::is_void_v<E> || functions_->type() == typeid(E))
                   ? static_cast<E const*>(functions_->target(storage_))
                   : nullptr;
    }

    // Both are of this type, without conversions. Otherwise "can be compared" would depend on "can be converted", which
    // depends on "can be compared".
    template <std::derived_from<any_io_executor> A, std::derived_from<any_io_executor> B>
    friend bool operator==(A const& a_of, B const& b_of) noexcept {
        any_io_executor const &a = a_of, &b = b_of;
        if (!a.functions_ || !b.functions_)
            return a.functions_ == b.functions_;
        if (a.functions_->native && b.functions_->native) // A context's executor and that of its loop are one.
            return a.native_loop() == b.native_loop();
        return a.functions_->type() == b.functions_->type() && a.functions_->equal(a.storage_, b.storage_);
    }

    template <std::derived_from<any_io_executor> A, std::same_as<std::nullptr_t> Null>
    friend bool operator==(A const& a, Null) noexcept {
        return !a;
    }
    template <std::derived_from<any_io_executor> A, class E>
        requires(!std::derived_from<E, any_io_executor> && !std::is_null_pointer_v<E> &&
                 std::convertible_to<E const&, A>)
    friend bool operator==(A const& a, E const& e) {
        return a == A(e);
    }

private:
    friend struct impl::exec::properties_of_any;
    impl::exec::executor_functions const& check() const {
        if (!functions_)
            throw bad_executor();
        return *functions_;
    }
    FAIRLEAD_ALWAYS_INLINE void copy_from(any_io_executor const& other) noexcept {
        if (!functions_)
            return;
        if (functions_->native)
            impl::base::copy_bytes(storage_, other.storage_, sizeof(loop*));
        else
            functions_->copy(other.storage_, storage_);
    }
    FAIRLEAD_ALWAYS_INLINE void destroy() noexcept {
        if (functions_ && !functions_->native)
            functions_->destroy(storage_);
    }

    impl::exec::executor_functions const* functions_;
    alignas(8) std::byte storage_[storage_size];
};
static_assert(sizeof(any_io_executor) == 32, "the size of any_io_executor is part of the ABI");

/// Exchanges two executors. Allocates nothing.
inline void swap(any_io_executor& a, any_io_executor& b) noexcept { a.swap(b); }
namespace execution {
using fairlead::swap;
} // namespace execution

/// Any executor that can run handlers, also one that has no context and so cannot carry I/O objects.
class any_completion_executor : public any_io_executor {
public:
    using any_io_executor::any_io_executor;
    any_completion_executor(any_io_executor const& e) noexcept : any_io_executor(e) {}
    /// Of executors that say themselves what they are as an any_io_executor.
    template <class E>
        requires(!std::derived_from<E, any_io_executor> &&
                 requires(E const& other) { other.operator any_io_executor(); })
    any_completion_executor(E const& e) : any_io_executor(e.operator any_io_executor()) {}
    any_completion_executor(std::nothrow_t, any_io_executor const& e) noexcept : any_io_executor(e) {}
    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_io_executor> && !io_executor<std::decay_t<E>> &&
                 impl::exec::runs_functions<std::decay_t<E>>)
    any_completion_executor(std::nothrow_t, E&& e) noexcept {
        try {
            *this = any_completion_executor(std::forward<E>(e));
        } catch (std::bad_alloc const&) { // empty, as said
        }
    }
    template <class E>
        requires(!std::derived_from<std::decay_t<E>, any_io_executor> && !io_executor<std::decay_t<E>> &&
                 impl::exec::runs_functions<std::decay_t<E>>)
    any_completion_executor(E&& e) : any_io_executor(impl::exec::any_executor_at_all(), std::forward<E>(e)) {}
};

/// The executor of a loop: one pointer, trivially copyable, recognised by whoever holds the loop.
class loop_executor : public impl::exec::ts_members<loop_executor> {
public:
    using takes_properties = void;
    explicit loop_executor(loop* l) noexcept : loop_(l) {}

    execution_context& context() const noexcept { return loop_->context(); }
    bool running_in_this_thread() const noexcept { return loop_->is_running_this(); }
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
            loop_->post(f.release_for(*loop_));
        else
            loop_->post(*impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
    }
    void on_work_started() const noexcept { loop_->work_started(); }
    void on_work_finished() const noexcept { loop_->work_finished(); }
    loop* native_loop() const noexcept { return loop_; }

    friend bool operator==(loop_executor const& a, loop_executor const& b) noexcept { return a.loop_ == b.loop_; }

protected:
    loop* loop_;
};

namespace impl::exec {

template <> struct executor_table_of<loop_executor> {
    FAIRLEAD_EXPORT static executor_functions const compiled; ///< in the library
    static constexpr executor_functions const* functions = &compiled;
};

/// True when every executor of this type runs a loop of the library.
template <class E> inline constexpr bool always_loop = has_loop<E> && !std::derived_from<E, any_io_executor>;

/// An executor as it may be kept when whom it was got from has gone.
template <class E> struct lasting_executor {
    using type = E;
};

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
        queue_function(e, op_function(o));
    }
}
/// As execute_op(), but an executor without a loop dispatches the op, which may then run inside the call.
template <class E> void dispatch_op(E const& e, op& o) {
    if constexpr (always_loop<E>) {
        e.native_loop()->post(o);
    } else {
        if constexpr (has_loop<E>)
            if (loop* l = e.native_loop()) {
                l->post(o);
                return;
            }
        dispatch_function(e, op_function(o));
    }
}

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

} // namespace impl::exec
} // namespace fairlead
