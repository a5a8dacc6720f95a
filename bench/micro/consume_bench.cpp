// What does it cost to give bytes back to the buffer one element at a time? What does it save to be lazy about it?
//
//   bench_consume WAY PAIRS
//     WAY    never   the map is parsed where it lies, nothing is given back: the limit
//            eager   a std::string gives back each element as soon as it is parsed: all that follows moves
//            lazy    lazy_buffer, given back just as often: an offset, and one move once 16 KiB lie before it
//            once    lazy_buffer, given back when all that was read is parsed, as the Redis client does
//     PAIRS  of short strings in the one map
//
// Prints the CPU time of one pair; before it, how many bytes moved for each pair, and how often.
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/resp3/parser.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <time.h>

namespace {

using namespace fairlead;

constexpr long pairs_in_all = 200'000;

std::string map_of(long pairs) {
    std::string s = "%";
    s.append(std::to_string(pairs)).append("\r\n");
    for (long i = 0; i != pairs; ++i)
        s.append("$5\r\nfield\r\n$7\r\nvalue..\r\n");
    return s;
}

struct moved {
    std::uint64_t bytes = 0;
    std::uint64_t times = 0;
};

std::uint64_t volatile checksum; // so that no compiler finds the nodes useless

void insist(bool good) {
    if (!good) {
        std::fputs("the parser refused its input\n", stderr);
        std::exit(1);
    }
}

/// One node of `unread`; returns how many bytes it took.
std::size_t parse_one(resp3::parser& parser, std::string_view unread) {
    resp3::node n;
    auto const part = parser.parse_some(unread, {&n, 1});
    insist(!part.ec && part.nodes == 1);
    checksum = checksum + n.value.size();
    return part.consumed;
}

void never(std::string_view map, moved&) {
    resp3::parser parser;
    while (!map.empty())
        map.remove_prefix(parse_one(parser, map));
}

void eager(std::string_view map, moved& m) {
    std::string storage(map);
    auto buf = dynamic_buffer(storage);
    resp3::parser parser;
    while (!storage.empty()) {
        buf.consume(parse_one(parser, storage));
        m.bytes += storage.size();
        m.times += !storage.empty();
    }
}

std::string_view text_of(lazy_buffer const& buf) { return {static_cast<char const*>(buf.data().data()), buf.size()}; }

void fill(lazy_buffer& buf, std::string_view map) {
    buf.grow(map.size());
    map.copy(static_cast<char*>(buf.data(0, map.size()).data()), map.size());
}

void lazy(std::string_view map, moved& m) {
    lazy_buffer buf;
    fill(buf, map);
    resp3::parser parser;
    while (buf.size() != 0) {
        auto const before = buf.rotations();
        buf.consume(parse_one(parser, text_of(buf)));
        if (buf.rotations() != before) {
            m.bytes += buf.size();
            ++m.times;
        }
    }
}

void once(std::string_view map, moved& m) {
    lazy_buffer buf;
    fill(buf, map);
    resp3::parser parser;
    std::size_t parsed = 0;
    while (parsed != buf.size())
        parsed += parse_one(parser, text_of(buf).substr(parsed));
    buf.consume(parsed);
    m.times += buf.rotations();
}

double cpu_ns() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const way = argv[1];
    long const pairs = std::atol(argv[2]);
    auto const run = way == "never" ? never : way == "eager" ? eager : way == "lazy" ? lazy : once;
    auto const map = map_of(pairs);
    moved m;
    run(map, m);
    long const rounds = pairs_in_all / pairs;
    m = {};
    auto const begun = cpu_ns();
    for (long i = 0; i != rounds; ++i)
        run(map, m);
    auto const took = cpu_ns() - begun;
    auto const of_pair = [&](auto what) { return static_cast<double>(what) / static_cast<double>(rounds * pairs); };
    if (way != "never")
        std::printf("%.1f bytes of each pair's map moved, %.3f times\n", of_pair(m.bytes), of_pair(m.times));
    std::printf("%.2f ns\n", of_pair(took));
}
