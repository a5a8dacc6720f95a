// The names that the compatibility headers add to the namespace do not come with the library's own headers. The test is
// that this compiles. Each name below would be ambiguous, or is a macro, if it did.
#include <fairlead/base/buffers_iterator.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/legacy/io_context_strand.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/generic.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/network.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/raw_socket.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/seq_packet_socket.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/socket_iostream.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/buffered_stream.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/any_completion_handler.hpp>
#include <fairlead/token/co_composed.hpp>
#include <fairlead/token/use_future.hpp>
#include <fairlead/verbs.hpp>

#include <gtest/gtest.h>

#include <type_traits>

#if defined(ASIO_VERSION) || defined(ASIO_REBIND_ALLOC) || defined(ASIO_OS_DEF) || defined(ASIO_ASSERT) ||             \
    defined(ASIO_INLINE_NAMESPACE_BEGIN)
#error "a macro of the compatibility headers comes with the library's own"
#endif

namespace of_a_program {

struct own {};
template <class> using decay = own;
template <class> using decay_t = own;
template <class...> using is_same = own;
template <class...> using is_convertible = own;
template <bool> using enable_if = own;
template <bool> using enable_if_t = own;
template <bool> using constraint_t = own;
template <class> using result_of = own;
template <class...> using void_t = own;
using true_type = own;
using allocator_arg_t = own;
using string_view = own;
using atomic_count = own;
using mutex = own;
using thread = own;
template <class> using scoped_lock = own;
inline own bind_handler(int) { return {}; }
inline own throw_exception(int) { return {}; }
inline own to_exception_ptr(int) { return {}; }

} // namespace of_a_program

namespace {

using namespace fairlead;
using namespace fairlead::detail;
using namespace of_a_program;

template <class... T> constexpr bool all_own = (std::is_same_v<T, own> && ...);

TEST(CompatInside, W1_W2_ItsNamesAreNotVisibleThroughTheLibrarysOwnHeaders) {
    EXPECT_TRUE((all_own<decay<int>, decay_t<int>, is_same<int>, is_convertible<int>, enable_if<true>,
                         enable_if_t<true>, constraint_t<true>, result_of<int()>, void_t<int>, true_type,
                         allocator_arg_t, string_view, atomic_count, mutex, thread, scoped_lock<int>,
                         decltype(bind_handler(1)), decltype(throw_exception(1)), decltype(to_exception_ptr(1))>));
}

} // namespace
