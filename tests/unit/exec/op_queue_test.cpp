#include <fairlead/exec/op.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using fairlead::op;
using fairlead::op_queue;

std::vector<op*> drain(op_queue& queue) {
    std::vector<op*> out;
    while (!queue.empty())
        out.push_back(queue.pop_front());
    return out;
}

TEST(OpQueue, FreshQueueIsEmpty) {
    op_queue queue;
    EXPECT_TRUE(queue.empty());
}

TEST(OpQueue, OpsLeaveInTheOrderOfArrival) {
    op a, b, c;
    op_queue queue;
    queue.push_back(a);
    queue.push_back(b);
    queue.push_back(c);
    EXPECT_EQ(queue.front(), &a);
    EXPECT_EQ(drain(queue), (std::vector<op*>{&a, &b, &c}));
}

TEST(OpQueue, PushFrontOvertakesTheRest) {
    op a, b;
    op_queue queue;
    queue.push_back(a);
    queue.push_front(b);
    EXPECT_EQ(drain(queue), (std::vector<op*>{&b, &a}));
}

TEST(OpQueue, UnlinkWorksAtTheFrontInTheMiddleAndAtTheEnd) {
    for (std::size_t gone = 0; gone != 3; ++gone) {
        op ops[3];
        op_queue queue;
        for (auto& o : ops)
            queue.push_back(o);
        op_queue::unlink(ops[gone]);
        std::vector<op*> expected;
        for (auto& o : ops)
            if (&o != &ops[gone])
                expected.push_back(&o);
        EXPECT_EQ(drain(queue), expected);
    }
}

TEST(OpQueue, UnlinkingTheOnlyOpLeavesAUsableQueue) {
    op a, b;
    op_queue queue;
    queue.push_back(a);
    op_queue::unlink(a);
    EXPECT_TRUE(queue.empty());
    queue.push_back(b);
    EXPECT_EQ(drain(queue), std::vector<op*>{&b});
}

TEST(OpQueue, SplicingMovesAllAndLeavesTheOtherEmpty) {
    op a, b, c;
    op_queue queue, other;
    queue.push_back(a);
    other.push_back(b);
    other.push_back(c);
    queue.splice_back(other);
    EXPECT_TRUE(other.empty());
    EXPECT_EQ(drain(queue), (std::vector<op*>{&a, &b, &c}));
    other.push_back(b);
    EXPECT_EQ(drain(other), std::vector<op*>{&b});
}

TEST(OpQueue, SplicingAnEmptyQueueOrIntoOneChangesNothingElse) {
    op a;
    op_queue queue, other;
    queue.splice_back(other);
    EXPECT_TRUE(queue.empty());
    other.push_back(a);
    queue.splice_back(other);
    EXPECT_EQ(drain(queue), std::vector<op*>{&a});
}

TEST(OpQueue, ForEachAllowsUnlinkingWhatItVisits) {
    op ops[4];
    op_queue queue;
    for (auto& o : ops)
        queue.push_back(o);
    int visited = 0;
    queue.for_each([&](op& o) {
        if (visited++ % 2 == 0)
            op_queue::unlink(o);
    });
    EXPECT_EQ(visited, 4);
    EXPECT_EQ(drain(queue), (std::vector<op*>{&ops[1], &ops[3]}));
}

} // namespace
