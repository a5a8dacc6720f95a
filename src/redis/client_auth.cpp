// How a client renews its credentials without connecting anew.
#include <redis/client_core.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::redis::impl {

void client_core::renewal_wanted() noexcept {
    if (!options_.ask_credentials || !is_running_)
        return;
    error_code ec;
    if (!ask_credentials(ec)) {
        ++not_renewed_;
        renew_after(options_.pause_max);
        return tell({.kind = event_kind::not_renewed, .why = ec});
    }
    use_new_credentials();
    pool_.renew();
}

void client_core::use_new_credentials() noexcept {
    if (!shared_->is_connected()) {
        is_renewed_ = true;
        return;
    }
    wants_renewal_ = !shared_->authenticate(cfg_);
    if (wants_renewal_) // Others are in its way: an AUTH before it, or a full queue.
        renew_after(options_.pause_min);
}

/// At the latest; but what could not be sent yet goes first.
void client_core::renew_after(std::chrono::milliseconds t) noexcept {
    try {
        renewal_.expires_after(std::min<std::chrono::milliseconds>(t, for_ever));
        renewal_.async_wait([kept = reference(this)](error_code const& ec) {
            auto& c = *kept.core;
            if (ec || !c.is_running_)
                return;
            if (std::exchange(c.wants_renewal_, false))
                c.use_new_credentials();
            else
                c.renewal_wanted();
        });
    } catch (...) { // Without memory: the next connection asks.
    }
}

void client_core::authenticated(error_code const& ec, std::string_view text) noexcept {
    ++(ec ? not_renewed_ : renewed_);
    tell({.kind = ec ? event_kind::not_renewed : event_kind::renewed, .why = ec, .server_text = text});
}

} // namespace fairlead::redis::impl
