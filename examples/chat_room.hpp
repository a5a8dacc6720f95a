// A room of a chat: all members get each line of one member. A member who does not read what the others say is dropped,
// and the room says who it was: the others never wait. So is one who says nothing for an hour.
//
// A room is a strand: its coroutines run one after another, on whatever thread, so nothing in it needs a lock.
#pragma once

#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

class chat_room {
public:
    using tcp = fairlead::ip::tcp;
    using report = std::function<void(tcp::endpoint const&)>;
    template <class T> using awaitable = fairlead::awaitable<T>;

    /// `dropped` is told who does not read.
    chat_room(fairlead::io_context& ctx, tcp::endpoint const& where, report dropped)
        : acceptor_(make_strand(ctx), where),
          where_(acceptor_.local_endpoint()),
          dropped_(std::move(dropped)) {}

    tcp::endpoint where() const { return where_; }
    fairlead::any_io_executor get_executor() { return acceptor_.get_executor(); }
    /// No more members; those who are there may stay. From any thread: the strand has its turn.
    void close() {
        post(acceptor_.get_executor(), [this] { acceptor_.close(); });
    }
    /// To be spawned on the room's executor. Ends when the last member has left.
    awaitable<void> serve() {
        fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
        co_await with_scope(options, [this](fairlead::task_scope<>& members) -> awaitable<void> {
            for (;;) {
                auto [ec, socket] = co_await acceptor_.async_accept(fairlead::as_tuple); // with the room's strand
                if (!acceptor_.is_open())
                    co_return;
                if (!ec) // else no descriptor is left: the next accept comes after a pause
                    co_await members.spawn(&chat_room::attend, this, std::move(socket));
            }
        });
    }

private:
    static constexpr std::size_t line_max = 1000;
    static constexpr std::size_t outbox_max = 100;
    static constexpr int send_buffer_max = 64 * 1024; ///< the system would keep megabytes for each member

    using outbox = fairlead::channel_sender<std::string>;
    struct member {
        member(chat_room& r, tcp::socket s, outbox o)
            : room(r),
              who(s.remote_endpoint()),
              socket(std::move(s)),
              lines(std::move(o)) {
            room.members_.push_back(this);
        }
        member(member const&) = delete;
        member& operator=(member const&) = delete;
        ~member() { std::erase(room.members_, this); }

        chat_room& room;
        tcp::endpoint who;
        tcp::socket socket;
        outbox lines; ///< what he has not been sent yet
    };

    awaitable<void> attend(tcp::socket s) {
        s.set_option(tcp::socket::send_buffer_size(send_buffer_max));
        auto [sender, lines] = fairlead::make_channel<std::string>(s.get_executor(), outbox_max);
        member me(*this, std::move(s), std::move(sender));
        say_to_all("* " + std::to_string(members_.size()) + " here\n");
        co_await when_any(hear(me), tell(me, std::move(lines))); // The first to end asks the other to end.
    }
    awaitable<void> hear(member& me) {
        std::string in;
        for (;;) {
            auto const n = co_await async_read_until(me.socket, fairlead::dynamic_buffer(in, line_max), '\n',
                                                     fairlead::cancel_after(std::chrono::hours(1)));
            say_to_all(in.substr(0, n));
            in.erase(0, n);
        }
    }
    static awaitable<void> tell(member& me, fairlead::channel_receiver<std::string> lines) {
        while (auto const line = co_await lines.next())
            co_await async_write(me.socket, fairlead::buffer(*line));
    }
    void say_to_all(std::string const& line) {
        for (member* m : members_)
            if (!m->lines.try_send(line) && m->socket.is_open()) {
                dropped_(m->who);
                m->socket.close(); // Ends both of his coroutines.
            }
    }

    tcp::acceptor acceptor_;
    tcp::endpoint where_;
    report dropped_;
    std::vector<member*> members_;
};
