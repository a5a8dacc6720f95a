#include <fairlead/base/error.hpp>

#include <gtest/gtest.h>

#include <netdb.h>

#include <set>
#include <string>

namespace {

using fairlead::error_code;
namespace error = fairlead::error;

TEST(ErrorCategory, NamesAreStable) {
    EXPECT_STREQ(error::get_misc_category().name(), "fairlead.misc");
    EXPECT_STREQ(error::get_netdb_category().name(), "fairlead.netdb");
    EXPECT_STREQ(error::get_addrinfo_category().name(), "fairlead.addrinfo");
}

TEST(ErrorCategory, EveryEnumeratorHasAMessageOfItsOwn) {
    std::set<std::string> messages;
    auto const codes = {
        error_code(error::already_open),      error_code(error::eof),
        error_code(error::not_found),         error_code(error::fd_set_failure),
        error_code(error::host_not_found),    error_code(error::host_not_found_try_again),
        error_code(error::no_data),           error_code(error::no_recovery),
        error_code(error::service_not_found), error_code(error::socket_type_not_supported),
    };
    for (auto const& ec : codes) {
        EXPECT_TRUE(ec);
        EXPECT_EQ(ec.message().find(ec.category().name()), std::string::npos) << ec.message();
        EXPECT_TRUE(messages.insert(ec.message()).second) << ec.message();
    }
}

TEST(ErrorCategory, UnknownValueNamesCategoryAndNumber) {
    EXPECT_EQ(error_code(99, error::get_misc_category()).message(), "fairlead.misc error 99");
}

TEST(ErrorCode, EofIsAnErrorThatNoErrnoEquals) {
    error_code const ec = error::eof;
    EXPECT_TRUE(ec);
    EXPECT_EQ(ec, error::eof);
    EXPECT_NE(ec, error_code(error::already_open));
    EXPECT_NE(ec, std::errc::operation_not_permitted);
}

TEST(ErrorCode, SystemErrorsCompareEqualToStandardConditions) {
    EXPECT_EQ(error_code(error::operation_aborted), std::errc::operation_canceled);
    EXPECT_EQ(error_code(error::connection_refused), std::errc::connection_refused);
    EXPECT_EQ(error_code(error::would_block), std::errc::operation_would_block);
    EXPECT_EQ(error_code(error::no_descriptors), std::errc::too_many_files_open);
}

TEST(ThrowError, SetCodeBecomesASystemErrorThatNamesTheCall) {
    try {
        fairlead::impl::base::throw_error(error::eof, "read");
        FAIL() << "returned";
    } catch (fairlead::system_error const& e) {
        EXPECT_EQ(e.code(), error::eof);
        EXPECT_NE(std::string(e.what()).find("read"), std::string::npos);
    }
}

TEST(ThrowError, ClearCodeReturns) { EXPECT_NO_THROW(fairlead::impl::base::throw_error({}, "read")); }

TEST(Error, W5_LookUpsFailWithTheSystemsValues) {
    EXPECT_EQ(error_code(error::host_not_found).value(), HOST_NOT_FOUND);
    EXPECT_EQ(error_code(error::host_not_found_try_again).value(), TRY_AGAIN);
    EXPECT_EQ(error_code(error::no_recovery).value(), NO_RECOVERY);
    EXPECT_EQ(error_code(error::no_data).value(), NO_DATA);
    EXPECT_EQ(error_code(error::service_not_found).value(), EAI_SERVICE);
    EXPECT_EQ(error_code(error::socket_type_not_supported).value(), EAI_SOCKTYPE);
    EXPECT_EQ(error_code(error::service_not_found).message(), "Service not found");
    EXPECT_EQ(error_code(error::no_recovery).message(), "A non-recoverable error occurred during database lookup");
}

} // namespace
