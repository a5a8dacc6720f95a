// Facts of Asio's surface: services.
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/net/timer.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

std::vector<std::string> events;

class plain_context : public execution_context {
public:
    using execution_context::execution_context;
    ~plain_context() override {
        shutdown();
        events.push_back("context");
        destroy();
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

using list = std::vector<std::string>;

TEST(Facts, F69_ServicesAreMadeOnceShutDownInReverseOrderAndThenDestroyed) {
    events.clear();
    {
        plain_context c;
        EXPECT_FALSE(has_service<numbered<1>>(c));
        auto& one = use_service<numbered<1>>(c);
        auto& two = use_service<numbered<2>>(c);
        EXPECT_EQ(&one, &use_service<numbered<1>>(c));
        EXPECT_EQ(&two, &use_service<numbered<2>>(c));
        EXPECT_TRUE(has_service<numbered<1>>(c));
        EXPECT_EQ(&one.context(), &c);
    }
    EXPECT_EQ(events, (list{"make 1", "make 2", "shutdown 2", "shutdown 1", "context", "destroy 2", "destroy 1"}));
}

TEST(Facts, F69_ServicesOfDistinctContextsAreDistinct) {
    events.clear();
    plain_context a, b;
    EXPECT_NE(&use_service<numbered<1>>(a), &use_service<numbered<1>>(b));
}

TEST(Facts, F69_ServicesAreToldOfAForkThePreparationFromTheYoungestOn) {
    events.clear();
    plain_context c;
    use_service<numbered<1>>(c);
    use_service<numbered<2>>(c);
    events.clear();
    c.notify_fork(execution_context::fork_prepare);
    c.notify_fork(execution_context::fork_child);
    EXPECT_EQ(events, (list{"fork 2 0", "fork 1 0", "fork context", "fork context", "fork 1 2", "fork 2 2"}));
}

TEST(Facts, F69_AMakerMakesTheFirstServices) {
    events.clear();
    struct maker final : execution_context::service_maker {
        void make(execution_context& c) const override { make_service<numbered<3>>(c, "made"); }
    };
    plain_context c{maker()};
    ASSERT_TRUE(has_service<numbered<3>>(c));
    EXPECT_EQ(use_service<numbered<3>>(c).text(), "made");
}

// ---- services of an io_context

TEST(Facts, F69_AnIoContextIsMadeWithItsFirstServices) {
    struct maker final : execution_context::service_maker {
        void make(execution_context& c) const override { make_service<numbered<3>>(c, "made"); }
    };
    io_context context{maker(), 1};
    EXPECT_TRUE(has_service<numbered<3>>(context));
    EXPECT_EQ(use_service<numbered<3>>(context).text(), "made");
}

struct holder : execution_context::service {
    explicit holder(execution_context& c) : service(c), timer(static_cast<io_context&>(c)) {}
    ~holder() override { *gone = true; }
    void shutdown() override {
        timer.reset();
        timer_gone = true;
    }
    struct held_timer {
        explicit held_timer(io_context& c) : object(std::make_unique<steady_timer>(c)) {}
        void reset() { object.reset(); }
        std::unique_ptr<steady_timer> object;
    } timer;
    bool timer_gone = false;
    bool* gone = nullptr;
};

TEST(Facts, F69_AnIoContextShutsItsServicesDownBeforeItAbandonsWhatIsPending) {
    bool gone = false, called = false;
    std::optional<io_context> context(std::in_place);
    auto& service = use_service<holder>(*context);
    service.gone = &gone;
    struct look {
        holder* service;
        bool* was_shut_down;
        bool armed = true;
        look(holder* s, bool* w) : service(s), was_shut_down(w) {}
        look(look&& other) noexcept
            : service(other.service),
              was_shut_down(other.was_shut_down),
              armed(std::exchange(other.armed, false)) {}
        ~look() {
            if (armed)
                *was_shut_down = service->timer_gone;
        }
    };
    bool was_shut_down = false;
    service.timer.object->expires_after(1h);
    service.timer.object->async_wait(
        [&called, witness = look(&service, &was_shut_down)](error_code) { called = true; });
    context.reset();
    EXPECT_FALSE(called);
    EXPECT_TRUE(was_shut_down) << "the handler was destroyed after shutdown(), while the service still existed";
    EXPECT_TRUE(gone);
}

} // namespace
