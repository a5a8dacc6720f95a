#include <fairlead/net/socket_stream.hpp>

namespace fairlead::impl::net {

bool socket_stream::try_now(stream_op& o) noexcept {
    exec::section const s; // Nobody takes the loop, or ends a share of it, meanwhile.
    auto& r = engine().reactor();
    return engine().may_try(s) && r.ready(o.handle, o.kind, o.size) && r.try_now(o);
}

void socket_stream::submit(stream_op& o) noexcept { engine().submit(o); }

void socket_stream::cancel(stream_op& o) noexcept { engine().ask(o.handle, o); }

void socket_stream::perform(stream_op& o) noexcept { engine().descriptors().perform(o, !socket()->user_non_blocking); }

} // namespace fairlead::impl::net
