#include <fairlead/base/disposition.hpp>

#include <support/user_disposition.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace {

using namespace fairlead;
using shop::outcome;

static_assert(disposition<error_code> && disposition<std::exception_ptr> && disposition<no_error_t>);
static_assert(is_disposition_v<outcome> && is_disposition<outcome>::value);
static_assert(!disposition<int> && !disposition<std::string> && !disposition<error_code const&>);
static_assert(no_error == no_error && !(no_error != no_error));

TEST(Disposition, WithoutAnErrorItEqualsNoError) {
    EXPECT_TRUE(error_code() == no_error);
    EXPECT_TRUE(no_error == error_code());
    EXPECT_TRUE(std::exception_ptr() == no_error);
    EXPECT_TRUE(outcome::good == no_error);
    error_code const failed = error::eof;
    EXPECT_TRUE(failed != no_error);
    EXPECT_TRUE(no_error != failed);
    EXPECT_TRUE(std::make_exception_ptr(1) != no_error);
    EXPECT_TRUE(outcome::sold_out != no_error);
}

TEST(Disposition, BecomesTheExceptionThatItStandsFor) {
    EXPECT_EQ(to_exception_ptr(no_error), nullptr);
    EXPECT_EQ(to_exception_ptr(error_code()), nullptr);
    EXPECT_EQ(to_exception_ptr(outcome::good), nullptr);
    error_code const failed = error::eof;
    try {
        std::rethrow_exception(to_exception_ptr(failed));
        ADD_FAILURE();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
    }
    auto const kept = to_exception_ptr(failed);
    EXPECT_EQ(to_exception_ptr(kept), kept);
    EXPECT_THROW(std::rethrow_exception(to_exception_ptr(outcome::sold_out)), std::runtime_error);
}

TEST(Disposition, IsThrown) {
    error_code const failed = error::eof;
    EXPECT_THROW(throw_exception(failed), system_error);
    EXPECT_THROW(throw_exception(std::make_exception_ptr(1)), int);
    EXPECT_THROW(throw_exception(outcome::sold_out), std::runtime_error);
    EXPECT_NO_THROW(throw_exception(no_error));
}

} // namespace
