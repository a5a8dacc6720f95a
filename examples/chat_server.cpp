// A chat server: all members of a room get each line of one member. A room is a strand: its handlers run one after
// another, on whatever thread, so nothing in it needs a lock. Rooms run in parallel. A member who says nothing for an
// hour is disconnected, and so is one who does not read: the others never wait for him.
//
//   example_chat_server [rooms [members]]     with a number of members for each room it is its own clients, and ends
//
// Run as a test: 3 8
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using fairlead::as_tuple, fairlead::awaitable, fairlead::ip::tcp;

class room {
public:
    explicit room(fairlead::io_context& ctx)
        : acceptor_(make_strand(ctx), tcp::endpoint(fairlead::ip::address_v4::loopback(), 0)),
          where_(acceptor_.local_endpoint()) {}

    tcp::endpoint where() const { return where_; }

    void open() { co_spawn(acceptor_.get_executor(), serve(), fairlead::rethrow); }
    /// No more members; those who are there may stay. From any thread: the strand has its turn.
    void close() {
        post(acceptor_.get_executor(), [this] { acceptor_.close(); });
    }

private:
    struct member {
        explicit member(tcp::socket s) : socket(std::move(s)), something_to_say(socket.get_executor()) {}
        tcp::socket socket;
        fairlead::event something_to_say; ///< look into the outbox
        std::deque<std::string> outbox;
    };
    static constexpr std::size_t line_max = 1000;
    static constexpr std::size_t outbox_max = 100;

    /// Ends when the last member has left. All of it runs on the strand, as does the coroutine that awaits it.
    awaitable<void> serve() {
        fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
        co_await with_scope(options, [this](fairlead::task_scope<>& members) -> awaitable<void> {
            for (;;) {
                auto [ec, socket] =
                    co_await acceptor_.async_accept(as_tuple); // with the acceptor's executor: the strand
                if (!acceptor_.is_open())
                    co_return;
                if (ec) // no descriptor left: the next accept comes after a pause
                    continue;
                auto const m = std::make_shared<member>(std::move(socket));
                members_.insert(m);
                co_await members.spawn(&room::attend, this, m);
                say_to_all("* " + std::to_string(members_.size()) + " here\n");
            }
        });
    }
    awaitable<void> attend(std::shared_ptr<member> m) { co_await when_all(hear(m), tell(m)); }
    awaitable<void> hear(std::shared_ptr<member> m) {
        std::string in;
        for (;;) {
            auto const [ec, n] = co_await async_read_until(m->socket, fairlead::dynamic_buffer(in, line_max), '\n',
                                                           fairlead::cancel_after(1h, as_tuple));
            if (ec)
                break;
            say_to_all(in.substr(0, n));
            in.erase(0, n);
        }
        leave(*m);
        members_.erase(m);
    }
    awaitable<void> tell(std::shared_ptr<member> m) {
        while (m->socket.is_open()) {
            if (m->outbox.empty()) {
                m->something_to_say.reset();
                co_await m->something_to_say.async_wait();
                continue;
            }
            auto const [ec, n] = co_await async_write(m->socket, fairlead::buffer(m->outbox.front()), as_tuple);
            if (ec)
                break;
            m->outbox.pop_front();
        }
        leave(*m);
    }
    void say_to_all(std::string const& line) {
        for (auto const& m : members_) {
            m->outbox.push_back(line);
            if (m->outbox.size() > outbox_max)
                leave(*m);
            m->something_to_say.set();
        }
    }
    /// Ends both of the member's coroutines.
    static void leave(member& m) {
        m.socket.close();
        m.something_to_say.set();
    }

    tcp::acceptor acceptor_;
    tcp::endpoint where_;
    std::set<std::shared_ptr<member>> members_;
};

/// Says one line when everybody is there, and goes when everybody has said his.
awaitable<void> visit(tcp::endpoint where, int number, int members, std::atomic<int>& heard) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(where);
    std::string in;
    for (int lines = 0; lines != members;) {
        auto const n =
            co_await async_read_until(socket, fairlead::dynamic_buffer(in), '\n', fairlead::cancel_after(1min));
        std::string line = in.substr(0, n);
        in.erase(0, n);
        if (line == "* " + std::to_string(members) + " here\n") {
            line = "hello from " + std::to_string(number) + '\n';
            co_await async_write(socket, fairlead::buffer(line));
        } else if (line[0] != '*') {
            ++lines;
            ++heard;
        }
    }
}

int main(int argc, char** argv) {
    int const count = argc > 1 ? std::atoi(argv[1]) : 1;
    int const members = argc > 2 ? std::atoi(argv[2]) : 0;
    fairlead::io_context ctx;
    std::vector<std::unique_ptr<room>> rooms;
    std::atomic<int> heard = 0, there = count * members;
    for (int i = 0; i != count; ++i) {
        auto& r = *rooms.emplace_back(std::make_unique<room>(ctx));
        std::printf("room %d listens on %s\n", i, r.where().to_string().c_str());
        r.open();
        for (int m = 0; m != members; ++m)
            co_spawn(ctx, visit(r.where(), m, members, heard), [&](std::exception_ptr e) {
                if (e) // The others would wait for him.
                    std::rethrow_exception(e);
                if (--there == 0)
                    for (auto& each : rooms)
                        each->close();
            });
    }

    auto const run = [&ctx] {
        try {
            ctx.run();
        } catch (std::exception const& e) { // One that left its thread would end the process.
            std::fprintf(stderr, "%s\n", e.what());
            ctx.stop();
        }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i != 4; ++i)
        others.emplace_back(run);
    run();
    others.clear(); // joins them

    std::printf("%d lines were heard\n", heard.load());
    return heard == count * members * members ? 0 : 1;
}
