#include <fairlead/exec/context_memory.hpp>

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <support/counting_allocator.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using namespace fairlead;
using test::account;
using allocator = test::counting_allocator<int>;

class plain_service : public execution_context::service {
public:
    explicit plain_service(execution_context& c, int number = 0) : service(c), number_(number) {}
    int number() const { return number_; }

private:
    void shutdown() override {}
    int number_;
};

/// Keeps a page of its own, as services of Asio programs do.
class keeping_service : public execution_context::service {
public:
    explicit keeping_service(execution_context& c) : service(c), page_(100, 7, execution_context::allocator<int>(c)) {}
    std::vector<int, execution_context::allocator<int>> const& page() const { return page_; }

private:
    void shutdown() override {}
    std::vector<int, execution_context::allocator<int>> page_;
};

class alignas(256) strict_service : public execution_context::service {
public:
    explicit strict_service(execution_context& c) : service(c) {}

private:
    void shutdown() override {}
};

class failing_service : public execution_context::service {
public:
    explicit failing_service(execution_context& c) : service(c) { throw std::runtime_error("made by no one"); }

private:
    void shutdown() override {}
};

class two_services : public execution_context::service_maker {
public:
    void make(execution_context& c) const override {
        make_service<plain_service>(c, 42);
        use_service<keeping_service>(c);
    }
};
class no_service : public execution_context::service_maker {
public:
    void make(execution_context& c) const override {
        use_service<plain_service>(c);
        use_service<failing_service>(c);
    }
};

TEST(ContextMemory, ServicesAndWhatTheyKeepLieInIt) {
    account books;
    {
        execution_context c(std::allocator_arg, allocator(&books));
        auto live = books.live;
        EXPECT_GT(live, 0);
        EXPECT_EQ(make_service<plain_service>(c, 3).number(), 3);
        EXPECT_GT(books.live, live);
        live = books.live;
        EXPECT_EQ(use_service<keeping_service>(c).page().at(99), 7);
        EXPECT_EQ(books.live, live + 2);
    }
    EXPECT_EQ(books.live, 0);
}

TEST(ContextMemory, AnAddedServiceStaysWhereItsMakerPutIt) {
    account books;
    {
        execution_context c(std::allocator_arg, allocator(&books));
        use_service<keeping_service>(c);
        auto const live = books.live;
        add_service(c, new plain_service(c));
        EXPECT_EQ(books.live, live);
    }
    EXPECT_EQ(books.live, 0);
}

TEST(ContextMemory, OverAlignedServicesAreAlignedWhateverTheAllocatorKnows) {
    account books;
    execution_context given(std::allocator_arg, allocator(&books)), global;
    for (auto* const c : {&given, &global})
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&use_service<strict_service>(*c)) % 256, 0U);
}

TEST(ContextMemory, AServiceThatCannotBeMadeLeavesNothing) {
    account books;
    execution_context c(std::allocator_arg, allocator(&books));
    use_service<plain_service>(c);
    auto const live = books.live;
    EXPECT_THROW(use_service<failing_service>(c), std::runtime_error);
    EXPECT_THROW(make_service<plain_service>(c), service_already_exists);
    EXPECT_EQ(books.live, live);
}

TEST(ContextMemory, AMakerFillsTheContextOrNothingIsLeft) {
    account books;
    {
        execution_context c(std::allocator_arg, allocator(&books), two_services());
        EXPECT_EQ(use_service<plain_service>(c).number(), 42);
        EXPECT_TRUE(has_service<keeping_service>(c));
    }
    EXPECT_EQ(books.live, 0);
    EXPECT_THROW(execution_context(std::allocator_arg, allocator(&books), no_service()), std::runtime_error);
    EXPECT_EQ(books.live, 0);
}

TEST(ContextMemory, AllocatorsOfAContextAreEqualAndRebind) {
    account books;
    execution_context c(std::allocator_arg, allocator(&books)), other;
    execution_context::allocator<void> const of_c(c), of_other(other);
    EXPECT_TRUE(of_c == execution_context::allocator<void>(c));
    EXPECT_FALSE(of_c == of_other);
    auto const live = books.live;
    {
        std::vector<double, execution_context::allocator<double>> numbers(of_c);
        numbers.resize(50, 0.5);
        EXPECT_EQ(books.live, live + 1);
    }
    EXPECT_EQ(books.live, live);
    EXPECT_THROW(static_cast<void>(execution_context::allocator<int>(of_other).allocate(static_cast<std::size_t>(-1))),
                 std::bad_alloc);
}

struct part : impl::exec::in_context_memory {
    explicit part(bool can_be_made) {
        if (!can_be_made)
            throw std::runtime_error("no part");
    }
};

TEST(ContextMemory, APartOutlivesWhoTookTheMemory) {
    account books;
    auto memory = impl::exec::memory_from(allocator(&books));
    auto* const p = new (memory) part(true);
    EXPECT_THROW(new (memory) part(false), std::runtime_error);
    memory = impl::exec::context_memory_ref();
    EXPECT_GT(books.live, 0);
    delete p;
    EXPECT_EQ(books.live, 0);
}

TEST(ContextMemory, OfAPoolTakesQueuesAndServices) {
    account books;
    int ran = 0;
    {
        thread_pool one(std::allocator_arg, allocator(&books), 1);
        EXPECT_GT(books.live, 0);
        auto const taken = books.taken;
        for (int i = 0; i != 100; ++i)
            one.get_executor().execute([&ran] { ++ran; });
        one.join();
        EXPECT_EQ(books.taken, taken); // Operations are not the context's.
    }
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(books.live, 0);
    {
        thread_pool many(std::allocator_arg, allocator(&books));
        EXPECT_GT(books.live, 0);
    }
    EXPECT_EQ(books.live, 0);
    {
        thread_pool served(std::allocator_arg, allocator(&books), 1, two_services());
        EXPECT_EQ(use_service<plain_service>(served).number(), 42);
    }
    EXPECT_EQ(books.live, 0);
    EXPECT_THROW(thread_pool(std::allocator_arg, allocator(&books), 1, no_service()), std::runtime_error);
    EXPECT_EQ(books.live, 0);
}

TEST(ThreadPool, IsMadeWithTheServicesOfAMaker) {
    thread_pool pool{1, two_services()};
    EXPECT_EQ(use_service<plain_service>(pool).number(), 42);
    EXPECT_THROW(thread_pool(1, no_service()), std::runtime_error);
}

} // namespace
