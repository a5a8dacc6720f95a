// The common part of the objects that coroutines and handlers wait for.
#pragma once

#include <fairlead/operation/async_op.hpp>
#include <fairlead/operation/initiate_on.hpp>
#include <fairlead/sync/wait_list.hpp>

#include <memory>
#include <tuple>

namespace fairlead::impl::sync {

/// The part of an object that does not depend on its executor: the list of those that wait, and where they complete.
class waited_object : public wait_list {
public:
    io_loop& engine() const noexcept { return domain_->engine(); }
    wait_domain& domain() const noexcept { return *domain_; }
    bool runs_handlers() const noexcept { return runs_handlers_; }
    /// All that wait complete with the error of cancelled waits. Returns how many.
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;

protected:
    template <class Executor>
    explicit waited_object(Executor const& e, int error_of_cancelled = error::operation_aborted)
        : wait_list(error_of_cancelled),
          domain_(domain_for(e)),
          runs_handlers_(exec::loop_of(e)) {}
    /// The derived class calls cancel() in its destructor: those that wait next may then be let go.
    ~waited_object() { domain_->forget(*this); }

private:
    std::shared_ptr<wait_domain> domain_;
    bool runs_handlers_;
};

/// The base of the initiation of such a wait. Object has two functions: `try_wait()`, which is true when there is
/// nothing to wait for, and `wait(o)`.
template <class Derived, class Object> struct wait_primitive : operation::primitive<Derived> {
    using signature = void(error_code);
    using plain_result = void;
    using record = wait_op;
    static constexpr bool is_tried_anywhere = true;

    Object* of;

    explicit wait_primitive(Object& o) noexcept : of(&o) {}
    loop* home() const noexcept { return &of->engine(); }
    void prepare(wait_op& o) const noexcept {
        o.cancel = nullptr;
        o.domain = &of->domain();
        o.list = nullptr;
    }
    static bool ready() noexcept { return true; }
    bool attempt(wait_op& o) const noexcept {
        o.result = {0, 0, 0};
        return of->try_wait();
    }
    bool attempt_unprepared(wait_op& o) const noexcept { return static_cast<Derived const&>(*this).attempt(o); }
    void submit(wait_op& o) const noexcept { of->wait(o); }
    static std::tuple<error_code> take(wait_op& o) noexcept { return {operation::to_error_code(o.result.error)}; }
};

} // namespace fairlead::impl::sync
