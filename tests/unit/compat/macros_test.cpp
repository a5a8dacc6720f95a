// Macros that programs define before they include Asio, with a value or without one, and those of Asio that they use.
#define ASIO_STANDALONE
#define ASIO_HAS_STD_CHRONO
#define ASIO_HAS_MOVE
#include <asio.hpp>
#include <asio/detail/config.hpp>
#include <asio/detail/socket_option.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <sys/socket.h>

#include <string>
#include <utility>

#if !ASIO_STANDALONE || !ASIO_HAS_MOVE || !ASIO_HAS_STD_CHRONO || !ASIO_HAS_THREADS || !ASIO_HAS_EPOLL ||              \
    !ASIO_HAS_STD_SHARED_PTR || !ASIO_HAS_GETADDRINFO
#error "what Asio finds out on this system is not said"
#endif

namespace {

class category final : public asio::error_category {
public:
    char const* name() const ASIO_ERROR_CATEGORY_NOEXCEPT override { return "ours"; }
    std::string message(int) const override { return "what went wrong"; }
};

struct stream {
    ASIO_STATIC_CONSTANT(std::size_t, default_buffer_size = 1024);
    ASIO_SYNC_OP_VOID close(asio::error_code& ec) ASIO_NOEXCEPT {
        ec = asio::error::eof;
        ASIO_SYNC_OP_VOID_RETURN(ec);
    }
    stream() = default;
    stream(stream const&) ASIO_DELETED;
    template <class Handler> ASIO_NODISCARD int take(ASIO_MOVE_ARG(Handler) h) { return ASIO_MOVE_CAST(Handler)(h)(); }
};

TEST(AsioCompat, MacrosThatProgramsUse) {
    typedef int number ASIO_UNUSED_TYPEDEF;
    int unused ASIO_UNUSED_VARIABLE;
    category const ours;
    EXPECT_EQ(asio::error_code(1, ours).message(), "what went wrong");
    stream s;
    asio::error_code ec;
    EXPECT_EQ(s.close(ec), asio::error::eof);
    EXPECT_TRUE(noexcept(s.close(ec)));
    EXPECT_EQ(s.take([] { return 7; }), 7);
    static_assert(stream::default_buffer_size == 1024);
}

TEST(AsioCompat, NamesOfTheInsideThatProgramsUse) {
    using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
    asio::io_context context;
    asio::ip::tcp::socket socket(context, asio::ip::tcp::v4());
    socket.set_option(reuse_port(true));
    reuse_port set;
    socket.get_option(set);
    EXPECT_TRUE(set.value());

    static_assert(asio::detail::max_iov_len >= 16);
    asio::detail::socket_type const descriptor = socket.native_handle();
    EXPECT_NE(descriptor, asio::detail::invalid_socket);
    EXPECT_NO_THROW(asio::detail::throw_error(asio::error_code(), "nothing"));
    EXPECT_NO_THROW(asio::detail::throw_error(asio::error_code()));
    EXPECT_THROW(asio::detail::throw_error(asio::error::eof, "reading"), asio::system_error);
    EXPECT_THROW(asio::detail::throw_error(asio::error::eof), asio::system_error);
}

class own_service final : public asio::detail::execution_context_service_base<own_service> {
public:
    explicit own_service(asio::execution_context& owner) : execution_context_service_base(owner) {}

private:
    void shutdown() override {}
};

class other_service final : public asio::detail::execution_context_service_base<other_service> {
public:
    explicit other_service(asio::execution_context& owner) : execution_context_service_base(owner) {}

private:
    void shutdown() override {}
};

TEST(AsioCompat, ServicesDerivedFromTheInsidesBaseAreEachAKindOfTheirOwn) {
    asio::io_context context;
    auto& made = asio::use_service<own_service>(context);
    EXPECT_EQ(&made.context(), &context);
    EXPECT_EQ(&asio::use_service<own_service>(context), &made);
    EXPECT_FALSE(asio::has_service<other_service>(context));
}

TEST(AsioCompat, SignalBlockerLetsNoSignalThroughWhileItLives) {
    auto const is_blocked = [] {
        sigset_t now;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
        return ::sigismember(&now, SIGUSR1) == 1;
    };
    ASSERT_FALSE(is_blocked());
    {
        asio::detail::signal_blocker blocker;
        EXPECT_TRUE(is_blocked());
        blocker.unblock();
        EXPECT_FALSE(is_blocked());
        blocker.block();
        EXPECT_TRUE(is_blocked());
    }
    EXPECT_FALSE(is_blocked());
}

TEST(AsioCompat, EnumeratorsAreFoundInTheirTypesAndCategoriesInTheNamespace) {
    static_assert(asio::ip::tcp::resolver::flags::all_matching == asio::ip::resolver_base::all_matching);
    static_assert(asio::ip::resolver_query_base::numeric_service == asio::ip::resolver_base::numeric_service);
    static_assert(asio::error::misc_errors::eof == asio::error::eof);
    EXPECT_EQ(&asio::system_category(), &asio::error::get_system_category());
}

} // namespace
