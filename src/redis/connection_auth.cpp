// Credentials that change while a session goes on.
#include <redis/connection_core.hpp>

namespace fairlead::redis::impl {

bool connection_core::authenticate(config const& from) noexcept {
    if (!session_.is_ready() || is_authenticating_ || !mux_.may_put_in_own())
        return false;
    try {
        auth_request_.clear();
        if (from.username.empty())
            auth_request_.push("AUTH", from.password);
        else
            auth_request_.push("AUTH", from.username, from.password);
    } catch (...) {
        return false;
    }
    auth_text_.clear();
    auth_.begin(this, &auth_request_);
    auth_.object = this;
    auth_.deliver = [](void* object, std::size_t, reply_view const& reply) {
        auto const& answer = reply.nodes[0];
        if (!resp3::is_error(answer.kind))
            return error_code();
        static_cast<connection_core*>(object)->auth_text_.set(resp3::printable(answer.value, 256));
        return make_error_code(error::auth_refused);
    };
    if (!mux_.add(auth_))
        return false;
    is_authenticating_ = true;
    queue_flush();
    return true;
}

void connection_core::has_authenticated() noexcept {
    is_authenticating_ = false;
    auth_request_.clear();
    if (watch_)
        watch_->authenticated(auth_.error(), auth_text_.get());
}

} // namespace fairlead::redis::impl
