// A connection as a std::iostream, for programs that do nothing else while they wait.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/waitable_timer.hpp>

#include <array>
#include <istream>
#include <memory>
#include <streambuf>

namespace fairlead {

/// The buffer behind a basic_socket_iostream. It has an io_context of its own, which runs only inside its calls, so
/// that each call can end at expiry(). Errors are found in error(); the stream only knows that there was one. Threads
/// unsynchronised
template <class Protocol> class basic_socket_streambuf : public std::streambuf {
public:
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using clock_type = io::steady_clock;
    using time_point = io::steady_clock::time_point;
    using duration = io::steady_clock::duration;

    basic_socket_streambuf() : context_(std::make_unique<io_context>()), socket_(*context_) { start_buffers(); }
    /// Takes over the connection of a socket, whatever its context.
    template <class Executor> explicit basic_socket_streambuf(basic_stream_socket<Protocol, Executor> socket)
        : basic_socket_streambuf() {
        auto const protocol = socket.local_endpoint().protocol();
        socket_.assign(protocol, socket.release());
    }
    basic_socket_streambuf(basic_socket_streambuf&& other)
        : std::streambuf(other),
          context_(std::exchange(other.context_, std::make_unique<io_context>())),
          socket_(std::exchange(other.socket_, basic_stream_socket<Protocol>(*other.context_))),
          memory_(std::exchange(other.memory_, std::make_unique<memory>())),
          error_(std::exchange(other.error_, error_code())),
          expiry_(std::exchange(other.expiry_, never)) {
        other.start_buffers();
    }
    basic_socket_streambuf& operator=(basic_socket_streambuf&& other) {
        if (this != &other) {
            close();
            std::streambuf::operator=(other);
            socket_ = std::exchange(other.socket_, basic_stream_socket<Protocol>(*other.context_));
            std::swap(context_, other.context_);
            other.socket_ = basic_stream_socket<Protocol>(*other.context_);
            std::swap(memory_, other.memory_);
            error_ = std::exchange(other.error_, error_code());
            expiry_ = std::exchange(other.expiry_, never);
            other.start_buffers();
        }
        return *this;
    }
    ~basic_socket_streambuf() override { flush(); }

    /// Connects to an endpoint, or to the first that answers of those that a resolver finds for (host, service), with
    /// all that resolve() takes. Null when there is none; error() says why.
    template <class... T> basic_socket_streambuf* connect(T const&... x) {
        start_buffers();
        error_ = error::not_found;
        if constexpr (sizeof...(T) == 1 && (std::convertible_to<T const&, endpoint_type> && ...)) {
            connect_to(x...);
        } else {
            typename Protocol::resolver resolver(*context_);
            error_code ec;
            auto const found = resolver.resolve(x..., ec);
            if (ec)
                error_ = ec;
            for (auto i = found.begin(); i != found.end() && error_; ++i)
                connect_to(*i);
        }
        return error_ ? nullptr : this;
    }
    /// Null when what was written could not be sent.
    basic_socket_streambuf* close() {
        error_ = {};
        flush();
        error_code ec;
        socket_.close(ec);
        if (!error_)
            error_ = ec;
        start_buffers();
        return error_ ? nullptr : this;
    }

    basic_stream_socket<Protocol>& socket() noexcept { return socket_; }
    error_code const& error() const noexcept { return error_; }

    /// When a call that waits gives up, with error::timed_out.
    time_point expiry() const noexcept { return expiry_; }
    void expires_at(time_point t) noexcept { expiry_ = t; }
    void expires_after(duration d) { expiry_ = impl::base::sum(context_->now(), d); }
    /// Both from other units. Far times saturate, here and above.
    template <impl::base::other_duration<duration> D>
    void expires_at(std::chrono::time_point<time_point::clock, D> const& t) noexcept {
        expiry_ = time_point(impl::base::saturated<duration>(t.time_since_epoch()));
    }
    template <class Rep, class Period>
        requires impl::base::other_duration<std::chrono::duration<Rep, Period>, duration>
    void expires_after(std::chrono::duration<Rep, Period> const& d) {
        expires_after(impl::base::saturated<duration>(d));
    }

protected:
    int_type underflow() override {
        if (gptr() != egptr())
            return traits_type::to_int_type(*gptr());
        char* const from = memory_->get.data() + put_back;
        std::size_t const n = wait_for([&](auto handler) {
            socket_.async_read_some(buffer(from, memory_->get.size() - put_back), std::move(handler));
        });
        if (error_)
            return traits_type::eof();
        setg(memory_->get.data(), from, from + n);
        return traits_type::to_int_type(*gptr());
    }
    int_type overflow(int_type c) override {
        if (!flush())
            return traits_type::eof();
        if (traits_type::eq_int_type(c, traits_type::eof()))
            return traits_type::not_eof(c);
        *pptr() = traits_type::to_char_type(c);
        pbump(1);
        return c;
    }
    int sync() override { return flush() ? 0 : -1; }

private:
    static constexpr time_point never = time_point::max();
    static constexpr std::size_t put_back = 8;
    struct memory {
        std::array<char, 512> get;
        std::array<char, 512> put;
    };

    void start_buffers() noexcept {
        setg(memory_->get.data(), memory_->get.data() + put_back, memory_->get.data() + put_back);
        setp(memory_->put.data(), memory_->put.data() + memory_->put.size());
    }
    bool flush() {
        const_buffer rest(pbase(), static_cast<std::size_t>(pptr() - pbase()));
        while (rest.size() != 0) {
            rest += wait_for([&](auto handler) { socket_.async_write_some(rest, std::move(handler)); });
            if (error_)
                return false;
        }
        setp(memory_->put.data(), memory_->put.data() + memory_->put.size());
        return true;
    }
    void connect_to(endpoint_type const& to) {
        error_code ec;
        socket_.close(ec);
        wait_for([&](auto handler) { socket_.async_connect(to, std::move(handler)); });
    }

    /// Starts an operation and runs it to its end, or until expiry(). Sets error_, returns its n.
    template <class Start> std::size_t wait_for(Start start) {
        struct {
            error_code ec;
            std::size_t n = 0;
            bool done = false;
        } result;
        context_->restart();
        start([&result](error_code ec, std::size_t n = 0) {
            result.ec = ec;
            result.n = n;
            result.done = true;
        });
        if (expiry_ == never)
            context_->run();
        else
            context_->run_until(expiry_);
        bool const late = !result.done;
        if (late) {
            socket_.cancel(result.ec);
            context_->run();
        }
        error_ = late && result.ec ? error_code(error::timed_out) : result.ec;
        return result.n;
    }

    std::unique_ptr<io_context> context_;
    basic_stream_socket<Protocol> socket_;
    std::unique_ptr<memory> memory_ = std::make_unique<memory>();
    error_code error_;
    time_point expiry_ = never;
};

namespace detail {

/// Stands before the stream's own base, which is given its address.
template <class Protocol> struct streambuf_of_stream {
    basic_socket_streambuf<Protocol> buf;
};

} // namespace detail

/// A std::iostream over a connection: `ip::tcp::iostream s(host, service);`. Output is sent at once when the expression
/// ends (unitbuf).
template <class Protocol> class basic_socket_iostream : private detail::streambuf_of_stream<Protocol>,
                                                        public std::basic_iostream<char> {
    using holder = detail::streambuf_of_stream<Protocol>;

public:
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using clock_type = io::steady_clock;
    using time_point = io::steady_clock::time_point;
    using duration = io::steady_clock::duration;

    basic_socket_iostream() : std::basic_iostream<char>(&this->holder::buf) { setf(std::ios_base::unitbuf); }
    template <class Executor> explicit basic_socket_iostream(basic_stream_socket<Protocol, Executor> socket)
        : holder{basic_socket_streambuf<Protocol>(std::move(socket))},
          std::basic_iostream<char>(&this->holder::buf) {
        setf(std::ios_base::unitbuf);
    }
    basic_socket_iostream(basic_socket_iostream&& other)
        : holder(std::move(static_cast<holder&>(other))),
          std::basic_iostream<char>(std::move(other)) {
        set_rdbuf(&this->holder::buf);
    }
    basic_socket_iostream& operator=(basic_socket_iostream&& other) {
        std::basic_iostream<char>::operator=(std::move(other));
        static_cast<holder&>(*this) = std::move(static_cast<holder&>(other));
        return *this;
    }
    /// Connects as connect() does.
    template <class... T>
        requires(sizeof...(T) != 0 && (!std::derived_from<T, basic_socket_iostream> && ...))
    explicit basic_socket_iostream(T const&... x) : basic_socket_iostream() {
        connect(x...);
    }

    /// Sets failbit when there is no connection; error() says why.
    template <class... T> void connect(T const&... x) {
        if (!rdbuf()->connect(x...))
            setstate(std::ios_base::failbit);
    }
    void close() {
        if (!rdbuf()->close())
            setstate(std::ios_base::failbit);
    }
    basic_socket_streambuf<Protocol>* rdbuf() const noexcept {
        return const_cast<basic_socket_streambuf<Protocol>*>(&this->holder::buf);
    }
    basic_stream_socket<Protocol>& socket() noexcept { return rdbuf()->socket(); }
    error_code const& error() const noexcept { return rdbuf()->error(); }
    time_point expiry() const noexcept { return rdbuf()->expiry(); }
    void expires_at(time_point t) noexcept { rdbuf()->expires_at(t); }
    void expires_after(duration d) { rdbuf()->expires_after(d); }
    template <impl::base::other_duration<duration> D>
    void expires_at(std::chrono::time_point<time_point::clock, D> const& t) noexcept {
        rdbuf()->expires_at(t);
    }
    template <class Rep, class Period>
        requires impl::base::other_duration<std::chrono::duration<Rep, Period>, duration>
    void expires_after(std::chrono::duration<Rep, Period> const& d) {
        rdbuf()->expires_after(d);
    }
};

} // namespace fairlead
