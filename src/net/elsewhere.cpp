// The common primitives on executors that run no loop of ours, compiled once for all programs (token/initiate_on.hpp).
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/socket.hpp>
#include <fairlead/net/timer.hpp>

#define COMPILE_ELSEWHERE(PRIMITIVE, ...)                                                                              \
    template <> template <>                                                                                            \
    void primitive_elsewhere<PRIMITIVE, any_io_executor>::operator()(boxed_handler<__VA_ARGS__>&& handler) {           \
        start(std::move(handler));                                                                                     \
    }                                                                                                                  \
    template <> template <>                                                                                            \
    void primitive_elsewhere<PRIMITIVE, any_io_executor>::operator()(await_handler<__VA_ARGS__>&& handler) {           \
        start(std::move(handler));                                                                                     \
    }

namespace fairlead::detail {

COMPILE_ELSEWHERE(transfer, error_code, std::size_t)
COMPILE_ELSEWHERE(wait_ready, error_code)
COMPILE_ELSEWHERE(connect_tcp, error_code)
COMPILE_ELSEWHERE(accept_tcp, error_code, accept_tcp::socket_type)
COMPILE_ELSEWHERE(timer_wait, error_code)

} // namespace fairlead::detail
