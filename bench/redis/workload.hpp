// The work of all clients of the Redis benchmark.
//
//   PROGRAM MODE N CALLERS HOST:PORT
//     calls    each caller in turn sets and gets a key, one request under way for each; N requests in all
//     publish  each caller publishes to a channel to which the same connection is subscribed: N replies and N pushes
//     pushes   a script on the server publishes N messages, 1,000 at a time; nothing else goes on. They are on one
//              channel, or in turn on as many as there are callers
//     small    a value of 64 bytes is read N times, one after the other, while so many others ("callers", or none) read
//              16 MiB for ever; prints how long the small ones take
//     add      N entries are added to a stream, in pipelines of 100
//     consume  a group reads N entries of a stream, 100 at a time, and acknowledges each; a script adds them, 1,000 at a
//              time
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

constexpr int skipped = 77; ///< what a program ends with that has no such mode
constexpr long messages_at_once = 1000;
constexpr std::string_view value = "the value has thirty-two bytes..";
static_assert(value.size() == 32);
constexpr char const* channel = "news";
constexpr char const* script = "for i = 1, 1000 do redis.call('PUBLISH', 'news', ARGV[1]) end return 1";
constexpr char const* script_for_many =
    "for i = 0, 999 do redis.call('PUBLISH', 'news:' .. i % ARGV[2], ARGV[1]) end return 1";

constexpr char const* small_key = "small";
constexpr std::size_t small_size = 64;
constexpr char const* large_key = "large";
constexpr std::size_t large_size = 16 * 1024 * 1024;

constexpr char const* stream = "orders";
constexpr char const* group = "billing";
constexpr char const* consumer = "worker-1";
constexpr char const* field = "order";
constexpr long entries_at_once = 100;
constexpr char const* script_that_adds =
    "for i = 1, 1000 do redis.call('XADD', 'orders', '*', 'order', ARGV[1]) end return 1";

inline std::string key_of(long caller) { return "key:" + std::to_string(10'000 + caller % 10'000); }

struct settings {
    std::string mode;
    long n;
    long callers;
    std::string host, port;

    settings(int argc, char** argv) {
        if (argc != 5)
            std::exit(2);
        mode = argv[1];
        n = std::atol(argv[2]);
        callers = std::atol(argv[3]);
        std::string const address = argv[4];
        auto const colon = address.rfind(':');
        host = address.substr(0, colon);
        port = address.substr(colon + 1);
    }
    bool is_calls() const { return mode == "calls"; }
    bool is_publish() const { return mode == "publish"; }
    bool is_pushes() const { return mode == "pushes"; }
    bool is_small() const { return mode == "small"; }
    bool is_add() const { return mode == "add"; }
    bool is_consume() const { return mode == "consume"; }
    /// Of the caller with this number.
    long share(long caller) const { return n / callers + (caller < n % callers); }
    /// The channels of the messages.
    std::vector<std::string> channels() const {
        if (!is_pushes() || callers == 1)
            return {channel};
        std::vector<std::string> all;
        for (long i = 0; i != callers; ++i)
            all.push_back(std::string(channel) + ':' + std::to_string(i));
        return all;
    }
    char const* script_for_all() const { return callers == 1 ? script : script_for_many; }
    /// Messages that come in mode pushes.
    long messages() const { return is_pushes() ? scripts() * messages_at_once : n; }
    long scripts() const { return (n + messages_at_once - 1) / messages_at_once; }
};

/// A benchmark that computes something wrong measures nothing.
inline void insist(bool good, char const* what) {
    if (!good) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(1);
    }
}

} // namespace workload
