#include "session.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/resp3/writer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#ifdef FAIRLEAD_REDIS_HAS_TLS
#include <fairlead/redis_tls/over_tls.hpp>
#endif

#include <memory>
#include <utility>

namespace cli {
namespace {

using namespace fairlead;

awaitable<any_stream> connect_plainly(options const& o) {
    auto const executor = co_await this_coro::executor;
    if (!o.unix_path.empty()) {
        local::stream_protocol::socket s(executor);
        local::stream_protocol::endpoint const endpoint(o.unix_path);
        auto joining = s.async_connect(endpoint);
        co_await std::move(joining);
        co_return any_stream(std::move(s));
    }
    ip::tcp::socket s(executor);
    ip::tcp::resolver resolver(executor);
    auto asking = resolver.async_resolve(o.host, o.port);
    auto const found = co_await std::move(asking);
    auto joining = async_connect(s, found);
    co_await std::move(joining);
    s.set_option(ip::tcp::no_delay(true));
    co_return any_stream(std::move(s));
}

#ifdef FAIRLEAD_REDIS_HAS_TLS
/// The context is kept for the life of the program, which has one session.
ssl::context& tls_of(options const& o) {
    static ssl::context tls(ssl::context::tls_client);
    if (!o.ca_file.empty())
        tls.load_verify_file(o.ca_file);
    if (!o.ca_folder.empty())
        tls.add_verify_path(o.ca_folder);
    if (!o.certificate.empty())
        tls.use_certificate_chain_file(o.certificate);
    if (!o.key.empty())
        tls.use_private_key_file(o.key, ssl::context::pem);
    if (o.is_insecure)
        tls.accept_unverified_peers();
    return tls;
}

awaitable<any_stream> connect_with_tls(options const& o) {
    auto const how = redis::over_tls(tls_of(o), o.sni);
    redis::address_parts const to{
        .host = o.unix_path.empty() ? o.host : o.unix_path, .port = o.port, .is_unix = !o.unix_path.empty()};
    auto connecting = how(to);
    co_return co_await std::move(connecting);
}
#else
awaitable<any_stream> connect_with_tls(options const&) {
    throw failure("this program was built without TLS");
    co_return any_stream();
}
#endif

/// What this system_error says beside its code, it says to programmers.
failure unreachable(options const& o, std::string const& why) {
    return failure("Could not connect to Redis at " + o.address() + ": " + why);
}

} // namespace

awaitable<session> session::open(options const& o) {
    any_stream stream;
    try {
        auto connecting = o.has_tls ? connect_with_tls(o) : connect_plainly(o);
        stream = co_await std::move(connecting);
    } catch (system_error const& e) {
        throw unreachable(o, e.code().message());
    }
    session s(std::move(stream));
    auto greeting = s.greet(o);
    co_await std::move(greeting);
    co_return s;
}

awaitable<void> session::greet(options const& o) {
    bool is_known = false; // to the server: who we are
    std::vector<std::string> words;
    if (o.wants_resp3) {
        words = {"HELLO", "3"};
        if (!o.password.empty())
            words.insert(words.end(), {"AUTH", o.user.empty() ? "default" : o.user, o.password});
        auto sending = send(words);
        co_await std::move(sending);
        auto receiving = receive_answer();
        auto const answer = co_await std::move(receiving);
        bool const is_old = answer.text.starts_with("ERR unknown command") || answer.text.starts_with("NOPROTO");
        bool const may_go_on = answer.text.starts_with("NOAUTH"); // AUTH may be among the commands.
        if (is_error(answer) && !is_old && !may_go_on)
            throw failure("HELLO failed: " + answer.text);
        is_known = !is_error(answer);
    }
    if (!o.password.empty() && !is_known) {
        words = {"AUTH"};
        if (!o.user.empty())
            words.push_back(o.user);
        words.push_back(o.password);
        auto sending = send(words);
        co_await std::move(sending);
        auto receiving = receive_answer();
        auto const answer = co_await std::move(receiving);
        if (is_error(answer))
            throw failure("AUTH failed: " + answer.text);
    }
    if (o.database != 0) {
        words = {"SELECT", std::to_string(o.database)};
        auto sending = send(words);
        co_await std::move(sending);
        auto receiving = receive_answer();
        auto const answer = co_await std::move(receiving);
        if (is_error(answer))
            throw failure("SELECT failed: " + answer.text);
    }
}

awaitable<void> session::send(std::string_view bytes) {
    auto writing = async_write(stream_, buffer(bytes), as_tuple);
    auto const [ec, n] = co_await std::move(writing);
    if (ec)
        throw failure("Error: " + ec.message());
}

awaitable<void> session::send(std::vector<std::string> const& words) {
    std::string bytes;
    resp3::append_command_header(bytes, words.size());
    for (auto const& each : words)
        resp3::append_argument(bytes, each);
    auto sending = send(std::string_view(bytes));
    co_await std::move(sending);
}

/// Adds the nodes that are there. True: they are a whole message.
bool session::take_message(std::vector<owned_node>& nodes) {
    for (;;) {
        resp3::node one[1]; // A batch would take a part of the next message.
        auto const p = parser_.parse_some(std::string_view(unread_).substr(consumed_), one);
        consumed_ += p.consumed;
        if (p.nodes != 0) {
            nodes.push_back({one[0].kind, std::string(one[0].value), one[0].size});
            if (one[0].last)
                return true;
        }
        if (p.what == resp3::status::failed)
            throw failure("Error: the server sent what is no RESP: " + p.ec.message());
        if (p.what == resp3::status::need_more)
            return false;
    }
}

awaitable<reply> session::receive() {
    std::vector<owned_node> nodes;
    while (!take_message(nodes)) {
        unread_.erase(0, std::exchange(consumed_, 0));
        auto const before = unread_.size();
        constexpr std::size_t most = 64 * 1024;
        unread_.resize(before + most);
        auto reading = stream_.async_read_some(buffer(unread_.data() + before, most), as_tuple);
        auto const [ec, n] = co_await std::move(reading);
        unread_.resize(before + n);
        if (ec)
            throw failure(ec == error::eof ? "Error: Server closed the connection" : "Error: " + ec.message());
    }
    co_return tree_of(nodes);
}

awaitable<reply> session::receive_answer() {
    for (;;) {
        auto receiving = receive();
        auto r = co_await std::move(receiving);
        if (r.what != kind::push)
            co_return r;
    }
}

} // namespace cli
