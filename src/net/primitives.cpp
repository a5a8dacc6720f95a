// The common primitives as awaits and as operations on executors that run no loop of ours: compiled once for all
// programs (operation/initiate_on.hpp).
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/socket.hpp>
#include <fairlead/net/timer.hpp>

#define COMPILE_TABLE(INITIATION, ...)                                                                                 \
    constinit operation::initiation_functions<__VA_ARGS__> const                                                       \
        operation::compiled_table<INITIATION, __VA_ARGS__>::functions =                                                \
            operation::instantiate_table<INITIATION, operation::initiation_storage, __VA_ARGS__>();

#define COMPILE_PRIMITIVE(PRIMITIVE, ...)                                                                              \
    template <> template <>                                                                                            \
    void operation::elsewhere<PRIMITIVE>::operator()(operation::boxed_handler<__VA_ARGS__>&& handler) {                \
        start(std::move(handler));                                                                                     \
    }                                                                                                                  \
    COMPILE_TABLE(PRIMITIVE, __VA_ARGS__)                                                                              \
    COMPILE_TABLE(operation::elsewhere<PRIMITIVE>, __VA_ARGS__)

namespace fairlead::impl {

COMPILE_PRIMITIVE(net::transfer, error_code, std::size_t)
COMPILE_PRIMITIVE(net::wait_ready, error_code)
COMPILE_PRIMITIVE(net::connect_tcp, error_code)
COMPILE_PRIMITIVE(net::accept_tcp, error_code, net::accept_tcp::socket_type)
COMPILE_PRIMITIVE(net::timer_wait, error_code)

template <> net::accept_tcp::socket_type operation::take_with<net::accept_tcp::signature>(
    initiation_functions<error_code, net::accept_tcp::socket_type> const* f, void* storage, await_record& r) {
    return instantiate_take<net::accept_tcp::signature>(f, storage, r);
}

} // namespace fairlead::impl
