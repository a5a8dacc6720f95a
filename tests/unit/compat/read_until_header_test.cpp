// <asio/read_until.hpp> alone: Asio's headers bring each other along, and programs rely on it.
#include <asio/read_until.hpp>

#include <gtest/gtest.h>

TEST(CompatHeaders, ReadUntilBringsWhatItsUsersName) {
    asio::io_context context;
    asio::any_io_executor const executor = context.get_executor();
    asio::streambuf line;
    asio::error_code ec = asio::error::eof;
    asio::post(executor, [&] { ec = {}; });
    context.run();
    EXPECT_EQ(line.size(), 0U);
    EXPECT_FALSE(ec);
}
