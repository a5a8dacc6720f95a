#include <fairlead/legacy/coroutine.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fairlead/legacy/yield.hpp>

namespace {

struct counter : fairlead::coroutine {
    std::vector<int> seen;
    int i = 0;
    void operator()() {
        reenter(this) {
            for (i = 0; i != 3; ++i) {
                if (i % 2 == 0)
                    yield seen.push_back(i);
                else
                    yield {
                        int const negative = -i;
                        seen.push_back(negative);
                    }
            }
            seen.push_back(99);
        }
    }
};

TEST(Coroutine, GoesOnBehindEachYieldAndEnds) {
    counter c;
    EXPECT_TRUE(c.is_parent());
    for (int calls = 1; !c.is_complete(); ++calls) {
        c();
        EXPECT_EQ(c.seen.size(), static_cast<std::size_t>(calls));
    }
    EXPECT_EQ(c.seen, (std::vector{0, -1, 2, 99}));
    c();
    EXPECT_EQ(c.seen.size(), 4U) << "it had ended";
}

struct interleave {
    fairlead::coroutine c;
    char operator()(std::string const& a, std::string const& b) {
        reenter(c) for (;;) {
            yield return a[0];
            yield return b[0];
        }
        return '-';
    }
};

TEST(Coroutine, ReturnsAValueFromAYield) {
    interleave f;
    std::string got;
    for (int i = 0; i != 3; ++i)
        got += f("x", "y");
    EXPECT_EQ(got, "xyx");
    EXPECT_FALSE(f.c.is_complete());
}

struct breaker {
    fairlead::coroutine c;
    int runs = 0;
    void operator()(bool stop) {
        reenter(c) {
            while (true) {
                ++runs;
                if (stop) {
                    yield break;
                }
                yield++ runs;
            }
        }
    }
};

TEST(Coroutine, BreakInAYieldEndsIt) {
    breaker f;
    f(false);
    EXPECT_EQ(f.runs, 2);
    f(true);
    EXPECT_EQ(f.runs, 3);
    EXPECT_TRUE(f.c.is_complete());
    f(false);
    EXPECT_EQ(f.runs, 3);
}

struct thrower {
    fairlead::coroutine c;
    void operator()(int what) {
        reenter(c) {
            yield {
                if (what == 1)
                    throw 1;
            }
            if (what == 2)
                throw 2;
            yield {}
        }
    }
};

TEST(Coroutine, ExceptionEndsItUnlessItHadYielded) {
    thrower f;
    EXPECT_THROW(f(1), int);
    EXPECT_FALSE(f.c.is_complete());
    EXPECT_THROW(f(2), int);
    EXPECT_TRUE(f.c.is_complete());
}

struct forker : fairlead::coroutine {
    std::shared_ptr<std::vector<std::pair<bool, int>>> log;
    std::vector<forker>* children;
    int i = 0;
    void operator()() {
        reenter(this) {
            for (; is_parent() && i != 2; ++i) {
                fork children->push_back(*this);
                if (is_child())
                    break;
            }
            log->emplace_back(is_child(), i);
            yield log->emplace_back(is_child(), 10 + i);
            log->emplace_back(is_child(), 20 + i);
        }
    }
};

TEST(Coroutine, ForkGoesOnTwice) {
    forker parent;
    parent.log = std::make_shared<std::vector<std::pair<bool, int>>>();
    std::vector<forker> children;
    parent.children = &children;
    parent();
    using entries = std::vector<std::pair<bool, int>>;
    EXPECT_EQ(*parent.log, (entries{{false, 2}, {false, 12}}));
    ASSERT_EQ(children.size(), 2U);
    parent.log->clear();
    for (auto& c : children) {
        EXPECT_TRUE(c.is_child());
        c();
    }
    EXPECT_EQ(*parent.log, (entries{{true, 0}, {false, 10}, {true, 1}, {false, 11}}));
    parent.log->clear();
    parent();
    EXPECT_EQ(*parent.log, (entries{{false, 22}}));
    EXPECT_TRUE(parent.is_complete());
}

/// As in Asio's tutorial: a session that moves itself from step to step.
struct session : fairlead::coroutine {
    struct parts {
        fairlead::local::stream_protocol::socket socket;
        char data[16];
        std::size_t echoed = 0;
    };
    std::unique_ptr<parts> p;

    void operator()(fairlead::error_code ec = {}, std::size_t n = 0) {
        auto* const all = p.get();
        reenter(this) {
            while (!ec) {
                yield all->socket.async_read_some(fairlead::buffer(all->data), std::move(*this));
                yield fairlead::async_write(all->socket, fairlead::buffer(all->data, n), std::move(*this));
                all->echoed += n;
            }
        }
    }
};

TEST(Coroutine, MovesFromStepToStep) {
    using namespace fairlead;
    io_context context;
    local::stream_protocol::socket near(context), far(context);
    local::connect_pair(near, far);
    session s;
    s.p = std::make_unique<session::parts>(session::parts{std::move(far), {}, 0});
    s();
    std::string got;
    for (char const c : std::string("abc")) {
        char back = ' ';
        near.write_some(buffer(&c, 1));
        near.async_read_some(buffer(&back, 1), [&](error_code, std::size_t) { context.stop(); });
        context.restart();
        context.run();
        got += back;
    }
    EXPECT_EQ(got, "abc");
}

#include <fairlead/legacy/unyield.hpp>

#ifdef yield
#error "the short names are still there"
#endif

} // namespace
