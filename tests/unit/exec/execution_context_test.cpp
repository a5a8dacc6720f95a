#include <fairlead/exec/execution_context.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;

std::vector<std::string> events;

class plain_context : public execution_context {
public:
    using execution_context::execution_context;
    ~plain_context() override {
        shutdown();
        events.push_back("context");
        destroy();
    }
    void shut_down_twice() {
        shutdown();
        shutdown();
    }

private:
    void on_fork(fork_event) override { events.push_back("fork context"); }
};

template <int Number> class numbered : public execution_context::service {
public:
    inline static execution_context::id id;
    explicit numbered(execution_context& c, std::string text = "default") : service(c), text_(std::move(text)) {
        events.push_back("make " + std::to_string(Number));
    }
    ~numbered() override { events.push_back("destroy " + std::to_string(Number)); }
    std::string const& text() const { return text_; }

private:
    void shutdown() override { events.push_back("shutdown " + std::to_string(Number)); }
    void notify_fork(execution_context::fork_event e) override {
        events.push_back("fork " + std::to_string(Number) + " " + std::to_string(e));
    }
    std::string text_;
};

/// Uses another service in its constructor, and has no id.
class relying : public execution_context::service {
public:
    explicit relying(execution_context& c) : service(c), first_(use_service<numbered<1>>(c)) {}
    numbered<1>& first() { return first_; }

private:
    void shutdown() override { events.push_back("shutdown relying, while 1 says " + first_.text()); }
    numbered<1>& first_;
};

/// Stands for its base: the kind is the base's.
class keyed_base : public execution_context::service {
public:
    using key_type = keyed_base;
    explicit keyed_base(execution_context& c) : service(c) {}

private:
    void shutdown() override {}
};
class keyed : public keyed_base {
public:
    using keyed_base::keyed_base;
};

using list = std::vector<std::string>;

TEST(ExecutionContext, AServiceThatAServiceUsesOutlivesIt) {
    events.clear();
    {
        plain_context c;
        auto& r = use_service<relying>(c);
        EXPECT_EQ(&r.first(), &use_service<numbered<1>>(c));
    }
    EXPECT_EQ(events, (list{"make 1", "shutdown relying, while 1 says default", "shutdown 1", "context", "destroy 1"}));
}

TEST(ExecutionContext, MakingAServiceTwiceThrowsAndKeepsTheFirst) {
    events.clear();
    plain_context c;
    auto& first = make_service<numbered<1>>(c, "first");
    EXPECT_THROW(make_service<numbered<1>>(c, "second"), service_already_exists);
    EXPECT_EQ(&use_service<numbered<1>>(c), &first);
    EXPECT_EQ(first.text(), "first");
}

TEST(ExecutionContext, AServiceCanOnlyBeAddedToItsOwnContext) {
    events.clear();
    plain_context a, b;
    auto of_a = std::make_unique<numbered<1>>(a);
    EXPECT_THROW(add_service(b, of_a.get()), invalid_service_owner);
    EXPECT_FALSE(has_service<numbered<1>>(b));
    add_service(a, of_a.get());
    EXPECT_EQ(&use_service<numbered<1>>(a), of_a.release());
}

TEST(ExecutionContext, ServicesAreShutDownOnce) {
    events.clear();
    plain_context c;
    use_service<numbered<1>>(c);
    c.shut_down_twice();
    EXPECT_EQ(events, (list{"make 1", "shutdown 1"}));
}

TEST(ExecutionContext, AKeyTypeNamesTheKind) {
    events.clear();
    plain_context c;
    auto& k = make_service<keyed>(c);
    EXPECT_EQ(&use_service<keyed_base>(c), &k);
}

TEST(ExecutionContext, ThreadsThatAskAtTheSameTimeGetTheSameService) {
    events.clear();
    struct counted : execution_context::service {
        explicit counted(execution_context& c) : service(c) {}
        void shutdown() override {}
    };
    for (int round = 0; round != 50; ++round) {
        plain_context c;
        std::atomic<counted*> found[4] = {};
        std::vector<std::thread> threads;
        for (auto& place : found)
            threads.emplace_back([&] { place = &use_service<counted>(c); });
        for (auto& t : threads)
            t.join();
        for (auto& place : found)
            ASSERT_EQ(place.load(), found[0].load());
    }
}

} // namespace
