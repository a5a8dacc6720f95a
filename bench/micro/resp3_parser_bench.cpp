// How fast does the parser deliver replies, and how far is that from merely finding the line ends?
//
//   bench_resp3_parser REPLIES CANDIDATE MIB
//     REPLIES    mixed, small, shuffled (small ones in no order that a branch predictor foresees) or map
//     CANDIDATE  walk   memchr from line end to line end, bulk bodies skipped, nothing delivered: the cost of reading
//                parse  parser::parse() with a sink that looks at every node, fed in windows of 64 KiB as a client
//                reads some   parser::parse_some() into a batch of 64 nodes, same windows next   parser::parse_some()
//                one node at a time
//
// Prints the median of some rounds in GB/s.
#include <fairlead/resp3/parser.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace fairlead;

constexpr std::size_t window = 64 * 1024;

/// splitmix64: the same replies on every computer.
class random_bits {
public:
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

private:
    std::uint64_t state_ = 1;
};

class recorder {
public:
    std::string out;
    random_bits random;

    void text(std::string_view s) { out += s; }
    void head(char kind, std::size_t n) { out.append(1, kind).append(std::to_string(n)).append("\r\n"); }
    void bulk(std::size_t n) {
        head('$', n);
        for (std::size_t i = 0; i != n; ++i)
            out += static_cast<char>('a' + (i + n) % 26);
        text("\r\n");
    }
    void number() { out.append(":").append(std::to_string(random.next() >> (20 + random.below(43)))).append("\r\n"); }
    void real() {
        auto const whole = std::to_string(random.below(100000));
        out.append(",").append(whole).append(".").append(std::to_string(random.below(100))).append("\r\n");
    }

    void small_reply(std::size_t which) {
        switch (which % 3) {
        case 0: text("+OK\r\n"); break;
        case 1: number(); break;
        default: bulk(32);
        }
    }
    void small_in_turn() { small_reply(turn_++); }          // SET, INCR, GET, SET, ...
    void small_shuffled() { small_reply(random.below(3)); } // many callers: no branch predictor foresees it
    void map_reply() {
        switch (random.below(3)) {
        case 0: // HGETALL
            head('%', 10);
            for (int i = 0; i != 10; ++i) {
                bulk(4 + random.below(8));
                bulk(random.below(24));
            }
            break;
        case 1: // XRANGE
            head('*', 4);
            for (int i = 0; i != 4; ++i) {
                head('*', 2);
                bulk(15);
                head('*', 4);
                for (int j = 0; j != 4; ++j)
                    bulk(3 + random.below(10));
            }
            break;
        default: // ZRANGE WITHSCORES
            head('*', 8);
            for (int i = 0; i != 8; ++i) {
                head('*', 2);
                bulk(6 + random.below(8));
                real();
            }
        }
    }
    void mixed_reply() {
        switch (random.below(12)) {
        case 0:
        case 1: bulk(random.below(64)); break;
        case 2: bulk(256 + random.below(1024)); break;
        case 3: number(); break;
        case 4: text("+OK\r\n"); break;
        case 5: text("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"); break;
        case 6: text("_\r\n"); break;
        case 7: // MGET
            head('*', 10);
            for (int i = 0; i != 10; ++i)
                random.below(4) == 0 ? text("_\r\n") : bulk(random.below(40));
            break;
        case 8:
            head('>', 3);
            text("$7\r\nmessage\r\n");
            bulk(10);
            bulk(20 + random.below(200));
            break;
        case 9:
            head('~', 6);
            for (int i = 0; i != 6; ++i)
                bulk(8 + random.below(8));
            break;
        case 10: text("#t\r\n"); break;
        default: map_reply();
        }
    }

private:
    std::size_t turn_ = 0;
};

std::string record(std::size_t bytes, void (recorder::*reply)()) {
    recorder r;
    r.out.reserve(bytes + 4096);
    while (r.out.size() < bytes)
        (r.*reply)();
    return std::move(r.out);
}

/// The results of candidates go here, so that no compiler finds them useless.
std::uint64_t volatile checksum;

void walk(std::string_view in) {
    char const* p = in.data();
    char const* const end = p + in.size();
    std::uint64_t sum = 0;
    while (p != end) {
        char const* const line_end = static_cast<char const*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
        char const kind = *p;
        if (kind == '$') {
            std::size_t n = 0;
            for (char const* q = p + 1; *q != '\r'; ++q)
                n = n * 10 + static_cast<std::size_t>(*q - '0');
            p = line_end + 1 + n + 2;
        } else {
            p = line_end + 1;
        }
        ++sum;
    }
    checksum = sum;
}

/// The parts that every consumer looks at.
struct look {
    std::uint64_t sum = 0;
    void operator()(resp3::node const& n) { sum += n.value.size() + n.size + n.depth + static_cast<unsigned>(n.last); }
};

void insist(bool good) {
    if (!good) {
        std::fputs("the parser refused its input\n", stderr);
        std::exit(1);
    }
}

void parse(std::string_view in) {
    resp3::parser parser;
    look sink;
    for (std::size_t at = 0; at != in.size();) {
        auto const done = parser.parse(in.substr(at, window), sink);
        insist(!done.ec && done.consumed != 0);
        at += done.consumed;
    }
    checksum = sink.sum;
}

template <std::size_t Batch> void parse_some(std::string_view in) {
    resp3::parser parser;
    look sink;
    std::array<resp3::node, Batch> batch;
    for (std::size_t at = 0; at != in.size();) {
        std::string_view const read = in.substr(at, window);
        std::size_t used = 0;
        for (bool more = true; more;) {
            auto const part = parser.parse_some(read.substr(used), batch);
            for (std::size_t i = 0; i != part.nodes; ++i)
                sink(batch[i]);
            used += part.consumed;
            more = part.what == resp3::status::node;
            insist(!part.ec);
        }
        at += used;
    }
    checksum = sink.sum;
}

struct kind_of_replies {
    std::string_view name;
    void (recorder::*reply)();
};
constexpr kind_of_replies kinds[] = {{"mixed", &recorder::mixed_reply},
                                     {"small", &recorder::small_in_turn},
                                     {"shuffled", &recorder::small_shuffled},
                                     {"map", &recorder::map_reply}};

struct candidate {
    std::string_view name;
    void (*run)(std::string_view);
};
constexpr candidate candidates[] = {
    {"walk", walk}, {"parse", parse}, {"some", parse_some<64>}, {"next", parse_some<1>}};

constexpr int rounds = 5;

double median_seconds(candidate const& c, std::string_view input) {
    std::vector<double> seconds;
    for (int round = 0; round != rounds; ++round) {
        auto const start = std::chrono::steady_clock::now();
        c.run(input);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[rounds / 2];
}

template <class Range> auto const& named(Range const& all, std::string_view name) {
    for (auto const& one : all)
        if (one.name == name)
            return one;
    std::exit(2);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    std::string const input = record(std::strtoul(argv[3], nullptr, 10) * 1024 * 1024, named(kinds, argv[1]).reply);
    std::printf("%.3f GB/s\n",
                static_cast<double>(input.size()) / median_seconds(named(candidates, argv[2]), input) * 1e-9);
}
