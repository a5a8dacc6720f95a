#include <io/descriptor_table.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using io::descriptor;

struct DescriptorTable : testing::Test {
    static constexpr io::nature stream{true, io::medium::socket};
    io::descriptor_table table{nullptr};

    static int open_one() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
    static bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
    descriptor& add() { return *table.add(open_one(), stream); }
    void close(descriptor& d) { ::close(table.remove(d)); }
    std::vector<descriptor*> visited() {
        std::vector<descriptor*> all;
        table.for_each([&](descriptor& d) {
            all.push_back(&d);
            return true;
        });
        return all;
    }
};

TEST_F(DescriptorTable, AHandleIsThatOfOneTenant) {
    auto& first = add();
    auto const h = io::descriptor_table::handle_of(first);
    EXPECT_EQ(table.find(h), &first);
    close(first);
    EXPECT_EQ(table.find(h), nullptr);
    auto& second = add();
    EXPECT_EQ(&second, &first) << "the place is used again";
    EXPECT_EQ(table.find(h), nullptr);
    EXPECT_EQ(table.find(io::descriptor_table::handle_of(second)), &second);
    EXPECT_EQ(table.find({}), nullptr);
}

TEST_F(DescriptorTable, VisitsThoseInUseOnly) {
    EXPECT_TRUE(visited().empty());
    auto& a = add();
    auto& b = add();
    auto& c = add();
    EXPECT_EQ(visited(), (std::vector{&a, &b, &c}));
    close(b);
    EXPECT_EQ(visited(), (std::vector{&a, &c}));
    close(a);
    close(c);
    EXPECT_TRUE(visited().empty());
}

TEST_F(DescriptorTable, ThoseThatArePutToTheFrontAreVisitedFirst) {
    auto& a = add();
    auto& b = add();
    auto& c = add();
    table.move(c, true);
    table.move(b, true);
    EXPECT_EQ(visited(), (std::vector{&b, &c, &a}));
    table.move(b, false);
    EXPECT_EQ(visited(), (std::vector{&c, &a, &b}));
    table.move(c, true);
    EXPECT_EQ(visited(), (std::vector{&c, &a, &b}));
}

TEST_F(DescriptorTable, AVisitEndsWhenItsFunctionSaysSo) {
    for (int i = 0; i != 10; ++i)
        add();
    int n = 0;
    table.for_each([&](descriptor&) { return ++n != 3; });
    EXPECT_EQ(n, 3);
}

TEST_F(DescriptorTable, AVisitedDescriptorMayBeMovedAndRemoved) {
    for (int i = 0; i != 10; ++i)
        add();
    int n = 0;
    table.for_each([&](descriptor& d) {
        if (++n % 2)
            table.move(d, true);
        else
            close(d);
        return true;
    });
    EXPECT_EQ(n, 10);
    EXPECT_EQ(visited().size(), 5U);
}

TEST_F(DescriptorTable, HasMoreThanOneChunk) {
    std::vector<descriptor*> all;
    for (std::size_t i = 0; i != 2 * io::descriptor_table::chunk_size + 1; ++i)
        all.push_back(table.add(::dup(0), stream));
    EXPECT_EQ(visited(), all);
    for (std::size_t i = 0; i != all.size(); ++i)
        EXPECT_EQ(&table.at(static_cast<std::uint32_t>(i)), all[i]);
}

TEST_F(DescriptorTable, ClosesWhatIsOpenAndNothingElse) {
    int kept = -1, released = -1;
    {
        io::descriptor_table other(nullptr);
        kept = open_one();
        other.add(kept, stream);
        released = other.remove(*other.add(open_one(), stream));
        ASSERT_TRUE(is_open(kept) && is_open(released));
    }
    EXPECT_FALSE(is_open(kept));
    EXPECT_TRUE(is_open(released));
    ::close(released);
}

TEST_F(DescriptorTable, KeepsBothEndsOrNone) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io::handle a, b;
    ASSERT_EQ(table.keep_both(fds, {true, io::medium::pipe}, a, b).error, 0);
    EXPECT_EQ(table.find(a)->fd, fds[0]);
    EXPECT_EQ(table.find(b)->fd, fds[1]);
    EXPECT_EQ(table.find(b)->medium(), io::medium::pipe);
}

TEST_F(DescriptorTable, ANewTenantKnowsNothingOfTheOneBefore) {
    auto& d = add();
    d.never_waits();
    d.heard_of_reads(EPOLLIN | EPOLLPRI | EPOLLRDHUP);
    d.begin_check();
    d.watch(true);
    d.native = io::native_mode::blocking;
    close(d);
    auto& next = add();
    ASSERT_EQ(&next, &d);
    EXPECT_FALSE(next.expects_to_read() || next.is_watched() || next.goes_on_after_short_read());
    EXPECT_TRUE(next.is_usual_to_read() && next.expects_to_write());
    EXPECT_EQ(next.native, io::native_mode::not_asked_for);
}

} // namespace
