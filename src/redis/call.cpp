#include <redis/call.hpp>

#include <fairlead/token/adapters.hpp>

#include <tuple>
#include <utility>

namespace fairlead::redis::impl {
namespace {

/// As execute, and completes with what else is known of an error.
struct execute_and_tell : fairlead::impl::operation::primitive<execute_and_tell> {
    using signature = void(call_error);
    using record = exec_op;

    execute inner;

    explicit execute_and_tell(execute const& e) noexcept : inner(e) {}
    loop* home() const noexcept { return inner.home(); }
    void prepare(record& o) const noexcept { inner.prepare(o); }
    void submit(record& o) const noexcept { inner.submit(o); }
    static std::tuple<call_error> take(record& o) noexcept {
        auto const ec = o.error();
        return {call_error{ec, ec ? o.first_entry : 0}};
    }
};

} // namespace

awaitable<call_error> executed(connection_core& c, request const& r, response_ref to) {
    auto executing = completion_token_transform<execute_and_tell::signature>(use_await, execute_and_tell({c, r, to}));
    auto const ec = co_await std::move(executing);
    co_return ec;
}

} // namespace fairlead::redis::impl
