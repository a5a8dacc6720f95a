#include <fairlead/base/copy_text.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace fairlead::test {

/// Each text lies in a block of its own size, so that the address sanitizer sees a byte too many.
TEST(CopyText, CopiesTextsOfEachSize) {
    for (std::size_t n = 0; n != 100; ++n) {
        auto const from = std::make_unique<char[]>(n);
        for (std::size_t i = 0; i != n; ++i)
            from[i] = static_cast<char>('A' + i % 50);
        std::string to(n + 2, '.');
        impl::base::copy_text(to.data() + 1, from.get(), n);
        EXPECT_EQ(to, '.' + std::string(from.get(), n) + '.') << n << " bytes";
    }
}

TEST(CopyText, NothingMayHaveNoAddress) {
    char to = '.';
    impl::base::copy_text(&to, nullptr, 0);
    EXPECT_EQ(to, '.');
}

} // namespace fairlead::test
