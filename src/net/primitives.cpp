// The common primitives as awaits and as operations on executors that run no loop of ours: compiled once for all
// programs (operation/initiate_on.hpp).
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/socket.hpp>
#include <fairlead/net/timer.hpp>

#define COMPILE_TABLE(INITIATION, ...)                                                                                 \
    constinit initiation_functions<__VA_ARGS__> const compiled_table<INITIATION, __VA_ARGS__>::functions =             \
        instantiate_table<INITIATION, __VA_ARGS__>();

#define COMPILE_PRIMITIVE(PRIMITIVE, ...)                                                                              \
    template <> template <> void PRIMITIVE##_elsewhere::operator()(boxed_handler<__VA_ARGS__>&& handler) {             \
        start(std::move(handler));                                                                                     \
    }                                                                                                                  \
    COMPILE_TABLE(PRIMITIVE, __VA_ARGS__)                                                                              \
    COMPILE_TABLE(PRIMITIVE##_elsewhere, __VA_ARGS__)

namespace fairlead::detail {

COMPILE_PRIMITIVE(transfer, error_code, std::size_t)
COMPILE_PRIMITIVE(wait_ready, error_code)
COMPILE_PRIMITIVE(connect_tcp, error_code)
COMPILE_PRIMITIVE(accept_tcp, error_code, accept_tcp::socket_type)
COMPILE_PRIMITIVE(timer_wait, error_code)

template <> accept_tcp::socket_type
take_with<accept_tcp::signature>(initiation_functions<error_code, accept_tcp::socket_type> const* f, void* storage,
                                 await_record& r) {
    return instantiate_take<accept_tcp::signature>(f, storage, r);
}

} // namespace fairlead::detail
