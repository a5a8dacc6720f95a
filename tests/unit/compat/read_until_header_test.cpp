// <asio/read_until.hpp> alone: Asio's headers bring each other along, and programs rely on it.
#include <asio/read_until.hpp>

#include <gtest/gtest.h>

namespace {

// Declared, as by Asio's header; who has one includes more.
[[maybe_unused]] asio::basic_streambuf<>* const no_line = nullptr;

TEST(CompatHeaders, ReadUntilBringsWhatItsUsersName) {
    asio::io_context context;
    asio::any_io_executor const executor = context.get_executor();
    asio::error_code ec = asio::error::eof;
    asio::post(executor, [&] { ec = {}; });
    context.run();
    EXPECT_FALSE(ec);
}

} // namespace
