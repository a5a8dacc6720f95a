// <asio/read_until.hpp> alone: it brings what Asio's brings, and programs rely on it.
#include <asio/read_until.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

// Declared, as by Asio's header; who has one includes more.
[[maybe_unused]] asio::basic_streambuf<>* const no_line = nullptr;

TEST(CompatHeaders, ReadUntilBringsWhatItsUsersName) {
    using namespace asio::buffer_literals;
    asio::error_code ec = asio::error::eof;
    EXPECT_EQ(asio::buffer("GET"_buf).size(), 3U);
    std::string text;
    EXPECT_EQ(asio::dynamic_buffer(text).size(), asio::string_view(text).size());
    ec = {};
    EXPECT_FALSE(ec);
}

} // namespace
