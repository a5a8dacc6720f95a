// async_read_until, complete at once, as a sender that an algorithm repeats. The algorithm is the naive one: when an
// operation ends, it makes and starts the next in the same call. Nobody unwinds the stack by hand, and fairness is on.
// The other rows of the table are in read_until.cpp.
//
//   read_until_sender ROW N
//     ROW  sender, or stoppable_sender, whose receiver has a stop token; repeat_until and stoppable_repeat_until, where
//          the algorithm is the library's
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/sender/connected_op.hpp>
#include <fairlead/sender/repeat.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/post.hpp>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

template <class Token> struct stop_environment {
    Token token;
    Token query(execution::get_stop_token_t) const noexcept { return token; }
};

template <class Token> class repeated_read {
public:
    repeated_read(socket_type& s, std::string& t, long n, Token stop) : stream_(s), text_(t), left_(n), stop_(stop) {}
    repeated_read(repeated_read const&) = delete;
    repeated_read& operator=(repeated_read const&) = delete;
    ~repeated_read() {
        if (has_state_)
            state_.~operation();
    }

    void next() noexcept {
        if (left_-- == 0)
            return;
        if (has_state_)
            state_.~operation();
        has_state_ = true;
        ::new (static_cast<void*>(&state_)) operation(execution::connect(read(), receiver{this}));
        execution::start(state_);
    }

private:
    struct receiver {
        using receiver_concept = execution::receiver_tag;
        repeated_read* of;
        void set_value(std::size_t) noexcept { of->next(); }
        template <class Error> void set_error(Error&&) noexcept { std::abort(); }
        void set_stopped() noexcept { std::abort(); }
        stop_environment<Token> get_env() const noexcept { return {of->stop_}; }
    };
    FAIRLEAD_ALWAYS_INLINE auto read() { return async_read_until(stream_, dynamic_buffer(text_), "\r\n"); }
    using operation = execution::connect_result_t<async_op<void(error_code, std::size_t)>, receiver>;
    socket_type& stream_;
    std::string& text_;
    long left_;
    Token stop_;
    bool has_state_ = false;
    union {
        operation state_;
    };
};

template <class Token> struct last_receiver {
    using receiver_concept = execution::receiver_tag;
    Token stop;
    void set_value() noexcept {}
    template <class Error> void set_error(Error&&) noexcept { std::abort(); }
    void set_stopped() noexcept { std::abort(); }
    stop_environment<Token> get_env() const noexcept { return {stop}; }
};

template <class Token> void run_repeat_until(long n, Token stop) {
    io_context context(1);
    socket_type a(context), b(context);
    local::connect_pair(a, b);
    std::string text = "Hello, world!\r\n";
    auto reads =
        execution::connect(execution::repeat_until([&] { return async_read_until(a, dynamic_buffer(text), "\r\n"); },
                                                   [left = n](std::size_t) mutable { return --left == 0; }),
                           last_receiver<Token>{stop});
    post(context, [&] { execution::start(reads); });
    context.run();
}

template <class Token> void run(long n, Token stop) {
    io_context context(1);
    socket_type a(context), b(context);
    local::connect_pair(a, b);
    std::string text = "Hello, world!\r\n";
    repeated_read<Token> reads(a, text, n, stop);
    post(context, [&] { reads.next(); });
    context.run();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    inplace_stop_source stop;
    if (std::strcmp(argv[1], "sender") == 0)
        run(n, never_stop_token());
    else if (std::strcmp(argv[1], "stoppable_sender") == 0)
        run(n, stop.get_token());
    else if (std::strcmp(argv[1], "repeat_until") == 0)
        run_repeat_until(n, never_stop_token());
    else if (std::strcmp(argv[1], "stoppable_repeat_until") == 0)
        run_repeat_until(n, stop.get_token());
    else
        return 2;
}
