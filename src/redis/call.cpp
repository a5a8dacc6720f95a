#include <redis/call.hpp>

#include <fairlead/token/adapters.hpp>

#include <utility>

namespace fairlead::redis::impl {

awaitable<error_code> executed(connection_core& c, request const& r, response_ref to) {
    error_code ec;
    auto executing = completion_token_transform<execute::signature>(redirect_error(ec), execute(c, r, to));
    co_await std::move(executing);
    co_return ec;
}

} // namespace fairlead::redis::impl
