// Fails: this receiver does not take each end of the operation: it needs set_value\(values...\)
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sender/connected_op.hpp>

struct receiver {
    using receiver_concept = fairlead::execution::receiver_tag;
    void set_value() noexcept {}
#ifdef GOOD
    void set_error(fairlead::error_code const&) noexcept {}
#endif
    void set_error(std::exception_ptr const&) noexcept {}
    void set_stopped() noexcept {}
};

void wait(fairlead::steady_timer& timer) {
    auto state = fairlead::execution::connect(timer.async_wait(), receiver());
    fairlead::execution::start(state);
}
