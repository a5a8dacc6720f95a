#include <fairlead/io/transfer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using namespace fairlead;
using io::kind;

struct TransferOfBytes : testing::Test {
    std::array<std::byte, 60> bytes{};
    std::array<io::slice, 4> slices{
        {{bytes.data(), 10}, {bytes.data() + 10, 0}, {bytes.data() + 10, 20}, {bytes.data() + 30, 30}}};
    io::io_op one, many;

    TransferOfBytes() {
        one.kind = kind::send_all;
        one.data = bytes.data();
        one.size = bytes.size();
        many.kind = kind::send_all;
        many.data = slices.data();
        many.size = slices.size();
        many.slices = true;
    }
    io::slice const& first() const { return *static_cast<io::slice const*>(many.data); }
};

TEST_F(TransferOfBytes, CountsWhatIsLeftUpToAnyNumberOfSlices) {
    EXPECT_EQ(io::total_of(one), 60U);
    EXPECT_EQ(io::total_of(one, 1), 60U);
    EXPECT_EQ(io::total_of(many), 60U);
    EXPECT_EQ(io::total_of(many, 3), 30U);
    EXPECT_EQ(io::total_of(many, 4), 60U);
    EXPECT_EQ(io::total_of(many, 5), 60U);
    EXPECT_EQ(io::total_of(many, 0), 0U);
}

TEST_F(TransferOfBytes, DropsTheFirstBytesOfOneBuffer) {
    io::advance(one, 0);
    EXPECT_EQ(one.data, bytes.data());
    io::advance(one, 59);
    EXPECT_EQ(one.data, bytes.data() + 59);
    EXPECT_EQ(io::total_of(one), 1U);
    io::advance(one, 1);
    EXPECT_EQ(io::total_of(one), 0U);
}

TEST_F(TransferOfBytes, DropsWholeSlicesAndThePartOfTheNext) {
    io::advance(many, 9);
    EXPECT_EQ(many.size, 4U);
    EXPECT_EQ(first().base, bytes.data() + 9);
    EXPECT_EQ(first().size, 1U);
    io::advance(many, 1); // The empty one goes, too.
    EXPECT_EQ(many.size, 2U);
    EXPECT_EQ(first().base, bytes.data() + 10);
    io::advance(many, 21);
    EXPECT_EQ(many.size, 1U);
    EXPECT_EQ(first().base, bytes.data() + 31);
    EXPECT_EQ(io::total_of(many), 29U);
    io::advance(many, 29);
    EXPECT_EQ(many.size, 0U);
}

TEST_F(TransferOfBytes, MovesNothingIfItIsATransferAndAllItsBuffersAreEmpty) {
    EXPECT_FALSE(io::moves_nothing(one));
    EXPECT_FALSE(io::moves_nothing(many));
    many.data = slices.data() + 1;
    many.size = 1;
    EXPECT_TRUE(io::moves_nothing(many));
    many.size = 2;
    EXPECT_FALSE(io::moves_nothing(many)) << "a buffer behind an empty one";
    many.size = 0;
    EXPECT_TRUE(io::moves_nothing(many));
    for (auto const k : {kind::receive, kind::receive_all, kind::send, kind::send_all}) {
        one.kind = k;
        one.size = 0;
        EXPECT_TRUE(io::moves_nothing(one));
    }
    for (auto const k : {kind::accept, kind::connect, kind::wait_read, kind::wait_write, kind::wait_error,
                         kind::receive_from, kind::send_to}) {
        one.kind = k;
        one.size = 0;
        EXPECT_FALSE(io::moves_nothing(one));
    }
}

} // namespace
