// Fails: this operation cannot be ended early, so that it takes no handler with a cancellation slot
#include <fairlead/io/io_context.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/token/adapters.hpp>

struct handler {
#ifndef GOOD
    using cancellation_slot_type = fairlead::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
#endif
    fairlead::cancellation_slot slot;
    void operator()(fairlead::error_code, std::size_t) {}
};

void call(fairlead::io_context& context, fairlead::redis::connection& connection,
          fairlead::redis::generic_response& pushes, fairlead::cancellation_signal& signal) {
    connection.async_receive(pushes, fairlead::bind_executor(context, handler{signal.slot()}));
}
