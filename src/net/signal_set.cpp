#include <fairlead/net/signal_set.hpp>

#include <cerrno>

#include <signal.h>

namespace fairlead::detail {

static_assert(static_cast<int>(signal_set_base::flags::restart) == SA_RESTART &&
              static_cast<int>(signal_set_base::flags::no_child_stop) == SA_NOCLDSTOP &&
              static_cast<int>(signal_set_base::flags::no_child_wait) == SA_NOCLDWAIT);

signal_core::~signal_core() {
    if (source_)
        source_->close();
}

error_code signal_core::open() noexcept {
    return source_ ? error_code() : impl::operation::to_error_code(engine_->host().open_signals(source_).error);
}
error_code signal_core::add(int number, int flags) noexcept {
    if (auto const ec = open())
        return ec;
    return impl::operation::to_error_code(engine_->host().add_signal(*source_, number, flags).error);
}
error_code signal_core::remove(int number) noexcept {
    if (number <= 0)
        return error::invalid_argument;
    return source_ ? impl::operation::to_error_code(source_->remove(number).error)
                   : error_code();
}
error_code signal_core::clear() noexcept {
    return source_ ? impl::operation::to_error_code(source_->remove(0).error) : error_code();
}
std::size_t signal_core::cancel() noexcept { return source_ ? engine_->host().cancel_signals(*source_) : 0; }

void signal_core::wait(io::signal_op& o) noexcept {
    if (auto const ec = open()) {
        o.result = {ec.value(), 0, 0};
        engine_->post(o);
        return;
    }
    engine_->host().wait_signal(*source_, o);
}

} // namespace fairlead::detail
