// The short names: each is its initiating function, and none of those is without one.
#include <fairlead/net/any_stream.hpp>
#include <fairlead/stream/buffered_stream.hpp>
#include <fairlead/verbs.hpp>

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

using namespace fairlead;
using ip::tcp;
using ip::udp;

template <class T> T& an() noexcept;
[[maybe_unused]] auto const bytes = mutable_buffer();
[[maybe_unused]] auto const text = const_buffer();

// One row for each operation: by its verb and by its function it is the same type.
#define SAME(by_verb, by_function) static_assert(std::is_same_v<decltype(by_verb), decltype(by_function)>)
SAME(verbs::send(an<tcp::socket>(), text), an<tcp::socket>().async_send(text));
SAME(verbs::send(an<tcp::socket>(), text, 0, use_await), an<tcp::socket>().async_send(text, 0, use_await));
SAME(verbs::send(an<udp::socket>(), text), an<udp::socket>().async_send(text));
SAME(verbs::send(an<local::seq_packet_protocol::socket>(), text, 0),
     an<local::seq_packet_protocol::socket>().async_send(text, 0));
SAME(verbs::receive(an<tcp::socket>(), bytes), an<tcp::socket>().async_receive(bytes));
SAME(verbs::receive(an<udp::socket>(), bytes), an<udp::socket>().async_receive(bytes));
SAME(verbs::receive(an<local::seq_packet_protocol::socket>(), bytes, an<int>()),
     an<local::seq_packet_protocol::socket>().async_receive(bytes, an<int>()));
SAME(verbs::send_to(an<udp::socket>(), text, an<udp::endpoint>()),
     an<udp::socket>().async_send_to(text, an<udp::endpoint>()));
SAME(verbs::send_to(an<ip::icmp::socket>(), text, an<ip::icmp::endpoint>()),
     an<ip::icmp::socket>().async_send_to(text, an<ip::icmp::endpoint>()));
SAME(verbs::receive_from(an<udp::socket>(), bytes, an<udp::endpoint>()),
     an<udp::socket>().async_receive_from(bytes, an<udp::endpoint>()));
SAME(verbs::read_some(an<tcp::socket>(), bytes), an<tcp::socket>().async_read_some(bytes));
SAME(verbs::read_some(an<posix::stream_descriptor>(), bytes), an<posix::stream_descriptor>().async_read_some(bytes));
SAME(verbs::read_some(an<readable_pipe>(), bytes), an<readable_pipe>().async_read_some(bytes));
SAME(verbs::write_some(an<tcp::socket>(), text), an<tcp::socket>().async_write_some(text));
SAME(verbs::write_some(an<posix::stream_descriptor>(), text), an<posix::stream_descriptor>().async_write_some(text));
SAME(verbs::write_some(an<writable_pipe>(), text), an<writable_pipe>().async_write_some(text));
SAME(verbs::read_some(an<any_stream>(), bytes), an<any_stream>().async_read_some(bytes));
SAME(verbs::write_some(an<any_stream>(), text), an<any_stream>().async_write_some(text));
SAME(verbs::shutdown(an<any_stream>()), an<any_stream>().async_shutdown());
SAME(verbs::accept(an<tcp::acceptor>()), an<tcp::acceptor>().async_accept());
SAME(verbs::accept(an<tcp::acceptor>(), an<tcp::socket>()), an<tcp::acceptor>().async_accept(an<tcp::socket>()));
SAME(verbs::accept(an<tcp::acceptor>(), an<tcp::endpoint>()), an<tcp::acceptor>().async_accept(an<tcp::endpoint>()));
SAME(verbs::accept(an<tcp::acceptor>(), an<io_context>()), an<tcp::acceptor>().async_accept(an<io_context>()));
SAME(verbs::connect(an<tcp::socket>(), an<tcp::endpoint>()), an<tcp::socket>().async_connect(an<tcp::endpoint>()));
SAME(verbs::connect(an<udp::socket>(), an<std::array<udp::endpoint, 2>>()),
     async_connect(an<udp::socket>(), an<std::array<udp::endpoint, 2>>()));
SAME(verbs::wait(an<tcp::socket>(), socket_base::wait_read), an<tcp::socket>().async_wait(socket_base::wait_read));
SAME(verbs::wait(an<posix::descriptor>(), posix::descriptor::wait_read),
     an<posix::descriptor>().async_wait(posix::descriptor::wait_read));
SAME(verbs::wait(an<steady_timer>()), an<steady_timer>().async_wait());
SAME(verbs::wait(an<signal_set>()), an<signal_set>().async_wait());
SAME(verbs::resolve(an<tcp::resolver>(), "", ""), an<tcp::resolver>().async_resolve("", ""));
SAME(verbs::resolve(an<tcp::resolver>(), an<tcp::endpoint>()), an<tcp::resolver>().async_resolve(an<tcp::endpoint>()));
SAME(verbs::read(an<tcp::socket>(), bytes), async_read(an<tcp::socket>(), bytes));
SAME(verbs::read(an<readable_pipe>(), bytes), async_read(an<readable_pipe>(), bytes));
SAME(verbs::write(an<tcp::socket>(), text), async_write(an<tcp::socket>(), text));
SAME(verbs::write(an<writable_pipe>(), text), async_write(an<writable_pipe>(), text));
SAME(verbs::fill(an<buffered_stream<tcp::socket>>()), an<buffered_stream<tcp::socket>>().async_fill());
SAME(verbs::flush(an<buffered_stream<tcp::socket>>()), an<buffered_stream<tcp::socket>>().async_flush());
SAME(verbs::read_until(an<tcp::socket>(), dynamic_buffer(an<std::string>()), '\n'),
     async_read_until(an<tcp::socket>(), dynamic_buffer(an<std::string>()), '\n'));
#undef SAME

bool is_of_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// The names that follow `before` and stand in front of `behind` in a file.
std::set<std::string> found_in(std::filesystem::path const& file, std::string_view before, std::string_view behind) {
    std::ifstream in(file);
    std::string const all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::set<std::string> names;
    for (auto at = all.find(before); at != all.npos; at = all.find(before, at)) {
        at += before.size();
        auto end = at;
        while (end != all.size() && is_of_name(all[end]))
            ++end;
        if (std::string_view(all).substr(end).starts_with(behind))
            names.insert(all.substr(at, end - at));
    }
    return names;
}

TEST(Verbs, EachInitiatingFunctionHasOne) {
    std::filesystem::path const headers = FAIRLEAD_SOURCE_DIR "/include/fairlead";
    auto const verbs = found_in(headers / "verbs.hpp", "_verb ", "{};");
    EXPECT_GT(verbs.size(), 10U);
    for (char const* room : {"net", "stream"})
        for (auto const& header : std::filesystem::directory_iterator(headers / room))
            for (auto const& name : found_in(header.path(), "decltype(auto) async_", "("))
                EXPECT_TRUE(verbs.count(name)) << "async_" << name << " in " << header.path();
}

TEST(Verbs, DoWhatTheirFunctionsDo) {
    io_context context;
    readable_pipe reads(context);
    writable_pipe writes(context);
    connect_pipe(reads, writes);
    char got[4];
    std::size_t read = 0;
    verbs::write(writes, buffer("abcd", 4), [](error_code, std::size_t) {});
    verbs::read(reads, buffer(got), [&](error_code, std::size_t n) { read = n; });
    context.run();
    EXPECT_EQ(read, 4U);
}

} // namespace
