// The limit: bare system calls, requests made beforehand, and of the replies only their ends are looked for.
//
//   redis_raw epoll|blocking and then as workload.hpp says; each reply sends one more request, whoever's it is
#include "raw_connection.hpp"
#include "workload.hpp"

#include <vector>

namespace {

using namespace workload::raw;
using workload::insist;

struct amount {
    long requests_at_once, replies, pushes;
};

/// Takes messages until all replies and pushes have come; for each reply one of `requests`, in turn, is sent. The first
/// `used` bytes received have been dealt with.
void serve(connection& c, std::vector<std::string> const& requests, amount due, std::size_t used = 0) {
    auto [at_once, replies, pushes] = due;
    std::string out;
    std::size_t next = 0;
    long const most = replies;
    long to_send = most;
    auto const put = [&] {
        out += requests[next];
        if (++next == requests.size())
            next = 0;
        --to_send;
    };
    while (to_send > 0 && to_send > most - at_once)
        put();
    while (replies > 0 || pushes > 0) {
        if (!out.empty())
            c.send(out);
        out.clear();
        auto const in = c.receive(used);
        for (used = 0; used != in.size();) {
            auto const end = end_of(in.substr(used));
            if (end == 0)
                break;
            if (in[used] == '>') {
                --pushes;
            } else {
                insist(in[used] != '-', "the server refused a request");
                --replies;
                if (to_send > 0)
                    put();
            }
            used += end;
        }
    }
}

/// Returns how many bytes the greeting took.
std::size_t greet(connection& c) {
    c.send(command({"HELLO", "3"}));
    for (;;)
        if (auto const end = end_of(c.receive(0)))
            return end;
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way to wait is missing");
    workload::settings const s(argc - 1, argv + 1);
    connection c(s, std::strcmp(argv[1], "epoll") == 0);
    std::vector<std::string> requests;
    if (s.is_calls()) {
        for (int gets = 0; gets != 2; ++gets)
            for (long i = 0; i != s.callers; ++i)
                requests.push_back(gets ? command({"GET", workload::key_of(i)})
                                        : command({"SET", workload::key_of(i), workload::value}));
        serve(c, requests, {s.callers, s.n, 0});
        return 0;
    }
    auto const greeting = greet(c);
    auto const channels = s.channels();
    for (auto const& each : channels)
        c.send(command({"SUBSCRIBE", each}));
    if (s.is_publish()) {
        requests.push_back(command({"PUBLISH", workload::channel, workload::value}));
        serve(c, requests, {s.callers, s.n, s.n + 1}, greeting);
    } else {
        requests.push_back(
            command({"EVAL", s.script_for_all(), "0", workload::value, std::to_string(channels.size())}));
        serve(c, requests, {1, s.scripts(), s.messages() + static_cast<long>(channels.size())}, greeting);
    }
}
