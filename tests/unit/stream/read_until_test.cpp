#include <fairlead/stream/read_until.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;

/// Reads what `rest` holds, at most so many bytes at a time.
struct stream_of_pieces {
    io_context& context;
    std::string rest;
    std::size_t most;

    auto get_executor() const noexcept { return context.get_executor(); }
    template <class Handler> void async_read_some(mutable_buffer into, Handler&& handler) {
        auto const n = std::min({most, rest.size(), into.size()});
        std::memcpy(into.data(), rest.data(), n);
        rest.erase(0, n);
        error_code const ec = n ? error_code() : error::eof;
        post(context, [h = std::forward<Handler>(handler), ec, n]() mutable { std::move(h)(ec, n); });
    }
};

/// How an operation ended.
struct outcome {
    error_code ec;
    std::size_t n = 99;
    friend bool operator==(outcome const&, outcome const&) = default;
};

struct ReadUntil : testing::Test {
    /// `text`, of which `held` bytes are in the buffer already and the others come `most` at a time.
    template <class Delimiter>
    outcome find(std::string_view text, std::size_t held, std::size_t most, Delimiter const& delimiter) {
        context.restart();
        stream_of_pieces stream{context, std::string(text.substr(held)), most};
        // Nothing lies behind its bytes, not even the zero of a string.
        std::vector<char> buffered(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(held));
        outcome got;
        async_read_until(stream, dynamic_buffer(buffered), delimiter,
                         [&](error_code ec, std::size_t n) { got = {ec, n}; });
        context.run();
        return got;
    }
    static outcome expected(std::string_view text, std::string_view delimiter) {
        auto const at = text.find(delimiter);
        return at == std::string_view::npos ? outcome{error::eof, 0} : outcome{error_code(), at + delimiter.size()};
    }
    template <class Delimiter>
    void finds_as_expected(std::string_view text, std::string_view wanted, Delimiter const& d) {
        for (std::size_t held = 0; held <= text.size(); ++held)
            for (std::size_t const most : {1U, 2U, 7U}) {
                auto const got = find(text, held, most, d);
                ASSERT_EQ(got, expected(text, wanted))
                    << "\"" << wanted << "\" in \"" << text << "\", of which " << held << " bytes were there and "
                    << most << " came at a time: " << got.n;
            }
    }
    /// As an array of N characters that ends with a zero, or with several.
    template <std::size_t N> void finds_array(std::string_view text, std::string_view wanted) {
        char array[N] = {};
        std::memcpy(array, wanted.data(), wanted.size());
        finds_as_expected(text, wanted, array);
    }
    io_context context;
};

/// All strings of 'a' and 'b' with so many characters.
std::vector<std::string> strings(std::size_t length) {
    std::vector<std::string> all;
    for (unsigned bits = 0; bits != 1U << length; ++bits) {
        std::string s(length, 'a');
        for (std::size_t i = 0; i != length; ++i)
            if (bits >> i & 1)
                s[i] = 'b';
        all.push_back(s);
    }
    return all;
}

TEST_F(ReadUntil, EachDelimiterIsFoundWhereverReadsDivideIt) {
    for (std::size_t length = 1; length != 4; ++length)
        for (auto const& wanted : strings(length))
            for (auto const& text : strings(5)) {
                finds_as_expected(text, wanted, wanted);
                finds_array<8>(text, wanted);
                if (length == 1)
                    finds_array<2>(text, wanted);
                if (length == 2)
                    finds_array<3>(text, wanted);
                if (length == 3)
                    finds_array<4>(text, wanted);
                if (HasFatalFailure())
                    return;
            }
}

TEST_F(ReadUntil, DelimiterOfAnyLengthIsFoundBehindItsOwnBeginnings) {
    std::string const all = "\r\n\xff\r\n\xfe.";
    for (std::size_t n = 1; n <= all.size(); ++n) {
        auto const wanted = all.substr(0, n);
        auto const text = wanted.substr(0, n - 1) + "\r\xff\r" + wanted + "\r";
        finds_as_expected(text, wanted, wanted);
        finds_array<8>(text, wanted);
    }
    finds_as_expected("\r\n\r\r\n\r\n", "\r\n\r\n", "\r\n\r\n");
    finds_as_expected("aaaabaaab", "aaab", "aaab");
    for (std::string const wanted : {"abcdefgh", "ababababc", "a delimiter of some length"})
        finds_as_expected("a" + wanted.substr(0, wanted.size() - 1) + wanted + "a", wanted, wanted);
}

TEST_F(ReadUntil, ZerosAreBytesOfATextAndEndADelimiter) {
    using namespace std::string_view_literals;
    finds_as_expected("a\0\0b\0c"sv, "b\0"sv, "b\0"sv);
    finds_as_expected("a\0\0b\0c"sv, "\0b"sv, "\0b"sv);
    finds_as_expected("a\0\0b\0c"sv, "b", "b\0c"); // an array is a string that ends with its first zero
    finds_as_expected("a\0\0\0b", "b", "b");
}

TEST_F(ReadUntil, EmptyDelimiterIsFoundAtOnce) {
    char const none[3] = {};
    for (std::string_view const text : {std::string_view(), std::string_view("\0ab", 3)}) {
        finds_as_expected(text, "", "");
        finds_as_expected(text, "", none);
        finds_as_expected(text, "", std::string());
    }
}

TEST_F(ReadUntil, AwaitedItFindsWhatIsBufferedWithoutTheStream) {
    stream_of_pieces stream{context, {}, 0};
    std::string text = "+OK\r\n\r\n:1";
    std::vector<std::size_t> found;
    co_spawn(
        context,
        [](stream_of_pieces& s, std::string& t, std::vector<std::size_t>& n) -> awaitable<void> {
            std::string const crlf = "\r\n", longer = "\r\n\r\n:1";
            auto const kept = dynamic_buffer(t);
            n.push_back(co_await async_read_until(s, dynamic_buffer(t), "\r\n"));
            n.push_back(co_await async_read_until(s, kept, "\r\n\r\n"));
            n.push_back(co_await async_read_until(s, dynamic_buffer(t), crlf));
            n.push_back(co_await async_read_until(s, kept, longer, deferred));
            auto op = async_read_until(s, kept, longer, deferred);
            auto moved = std::move(op);
            n.push_back(co_await std::move(moved));
            auto const [ec, m] = co_await async_read_until(s, dynamic_buffer(t, t.size()), "OK\n", as_tuple);
            EXPECT_EQ(ec, error::not_found);
            n.push_back(m);
        }(stream, text, found),
        rethrow);
    context.run();
    EXPECT_EQ(found, (std::vector<std::size_t>{5, 7, 5, 9, 9, 0}));
}

TEST_F(ReadUntil, KeptBufferWhoseStringWasClearedIsSearchedNoFurther) {
    std::string text;
    auto kept = dynamic_buffer(text);
    kept.commit(buffer_copy(kept.prepare(5), buffer("+OK\r\n", 5)));
    text.clear();
    text.shrink_to_fit();
    EXPECT_EQ(kept.data().size(), 0U);
    stream_of_pieces stream{context, {}, 0};
    outcome got;
    async_read_until(stream, kept, "\r\n", [&](error_code ec, std::size_t n) { got = {ec, n}; });
    context.run();
    EXPECT_EQ(got, (outcome{error::eof, 0}));
}

} // namespace
