#include <fairlead/tls/below.hpp>

namespace fairlead::ssl::impl {

bool below_socket::try_now(below_op& o) noexcept {
    fairlead::impl::exec::section const s; // Nobody takes the loop, or ends a share of it, meanwhile.
    auto& r = engine().reactor();
    o.handle = socket_->handle;
    return engine().may_try(s) && r.ready(o.handle, o.kind, o.size) && r.try_now(o);
}

void below_socket::submit(below_op& o) noexcept {
    o.handle = socket_->handle;
    o.cancel = reinterpret_cast<void*>(fairlead::impl::operation::next_ticket());
    engine().submit(o);
}

void below_socket::cancel(below_op& o) noexcept { engine().ask(o.handle, o); }

void below_socket::perform(below_op& o) noexcept {
    o.handle = socket_->handle;
    engine().descriptors().perform(o, !socket_->user_non_blocking);
}

} // namespace fairlead::ssl::impl
