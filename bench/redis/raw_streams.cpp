// The limit of streams: bare system calls on one connection, one request under way.
//
//   redis_raw_streams epoll and then as workload.hpp says, modes add and consume
#include "raw_connection.hpp"
#include "workload.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace workload::raw;
using workload::insist;

/// Replies one after the other.
class replies {
public:
    explicit replies(connection& c) : connection_(c) {}

    /// The next one; it stays until the following call.
    std::string_view next() {
        for (;;) {
            auto const end = end_of(in_.substr(used_));
            if (end != 0) {
                auto const reply = in_.substr(used_, end);
                used_ += end;
                insist(reply[0] != '-', "the server refused a request");
                return reply;
            }
            in_ = connection_.receive(used_);
            used_ = 0;
        }
    }

private:
    connection& connection_;
    std::string_view in_;
    std::size_t used_ = 0;
};

/// Takes texts and the heads of lists from a reply.
class walk {
public:
    explicit walk(std::string_view reply) : at_(reply.data()) {}

    std::size_t size(char kind) {
        insist(*at_ == kind, "another reply than expected");
        std::size_t n = 0;
        for (++at_; *at_ != '\r'; ++at_)
            n = n * 10 + static_cast<std::size_t>(*at_ - '0');
        at_ += 2;
        return n;
    }
    std::string_view text() {
        auto const n = size('$');
        std::string_view const found(at_, n);
        at_ += n + 2;
        return found;
    }

private:
    char const* at_;
};

void add(connection& c, replies& in, workload::settings const& s) {
    std::string all;
    for (long i = 0; i != workload::entries_at_once; ++i)
        all += command({"XADD", workload::stream, "*", workload::field, workload::value});
    for (long left = s.n; left > 0; left -= workload::entries_at_once) {
        c.send(all);
        for (long i = 0; i != workload::entries_at_once; ++i)
            in.next();
    }
}

/// Takes the ids of a reply with entries, and asks for their acknowledgement.
long acknowledge(connection& c, std::string_view found) {
    walk w(found);
    w.size('*'); // streams
    w.size('*');
    w.text();
    auto const n = w.size('*');
    std::string out = '*' + std::to_string(3 + n) + command({"XACK", workload::stream, workload::group}).substr(2);
    for (std::size_t i = 0; i != n; ++i) {
        w.size('*');
        auto const id = w.text();
        out.append(1, '$').append(std::to_string(id.size())).append("\r\n").append(id).append("\r\n");
        w.size('*');
        w.text();
        insist(w.text().size() == workload::value.size(), "another entry than expected");
    }
    c.send(out);
    return static_cast<long>(n);
}

void consume(connection& c, replies& in, workload::settings const& s) {
    c.send(command({"XGROUP", "CREATE", workload::stream, workload::group, "0", "MKSTREAM"}));
    in.next();
    auto const adding = command({"EVAL", workload::script_that_adds, "0", workload::value});
    auto const reading = command({"XREADGROUP", "GROUP", workload::group, workload::consumer, "COUNT",
                                  std::to_string(workload::entries_at_once), "STREAMS", workload::stream, ">"});
    for (long i = 0; i != s.scripts(); ++i) {
        c.send(adding);
        in.next();
        for (long left = workload::messages_at_once; left > 0;) {
            c.send(reading);
            left -= acknowledge(c, in.next());
            in.next();
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way to wait is missing");
    workload::settings const s(argc - 1, argv + 1);
    connection c(s, std::strcmp(argv[1], "epoll") == 0);
    replies in(c);
    c.send(command({"DEL", workload::stream}));
    in.next();
    if (s.is_add())
        add(c, in, s);
    else if (s.is_consume())
        consume(c, in, s);
    else
        return workload::skipped;
}
