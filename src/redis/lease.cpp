// How a caller comes to a connection of its own, and gives it back.
#include <fairlead/redis/lease.hpp>
#include <fairlead/redis/optimistic.hpp>

#include <redis/client_core.hpp>

#include <fairlead/token/adapters.hpp>

namespace fairlead::redis {
namespace impl {

awaitable<lease> client_core::acquire(reference self) {
    auto& c = *self.core;
    lease own;
    error_code ec;
    auto waiting = completion_token_transform<execute::signature>(
        redirect_error(ec), execute(*c.shared_, request_for_lease(), {&own, &deliver_lease, response_ref::any_number}));
    co_await std::move(waiting);
    if (ec) {
        auto const failure = c.pool_.failure(); // Of the last attempt to make one.
        throw system_error(ec, failure.empty() ? "redis lease" : "redis lease (no connection: " + failure + ")");
    }
    co_return own;
}

request watch_keys(keys_view keys) { return keys.size() == 0 ? request() : serialise("WATCH", {keys}); }

void throw_watched_key_changed() { throw system_error(error::watched_key_changed, "redis optimistic"); }

lease_hold::lease_hold(client_core* client, connection_core& c) noexcept : client_(client), core_(&c) {
    client_->retain();
}

void lease_hold::give_back() noexcept {
    core_->give_back();
    client_->release();
}

} // namespace impl

any_io_executor lease::get_executor() const { return hold_.core().executor(); }
bool lease::is_ready() const noexcept { return hold_.holds() && hold_.core().is_connected(); }
std::string lease::server_text() const { return hold_.core().server_text(); }

} // namespace fairlead::redis
