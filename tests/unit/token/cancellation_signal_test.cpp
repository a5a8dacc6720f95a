#include <fairlead/token/cancellation.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using namespace fairlead;

TEST(CancellationType, IsASetOfBits) {
    static_assert(std::is_same_v<cancellation_type_t, cancellation_type>);
    auto const some = cancellation_type::terminal | cancellation_type::partial;
    EXPECT_EQ(some & cancellation_type::partial, cancellation_type::partial);
    EXPECT_EQ(some & cancellation_type::total, cancellation_type::none);
    EXPECT_EQ(some ^ cancellation_type::partial, cancellation_type::terminal);
    EXPECT_EQ(~some & cancellation_type::all, ~some);
    EXPECT_TRUE(!!some);
    EXPECT_TRUE(!cancellation_type::none);
    auto t = cancellation_type::none;
    t |= some;
    t &= cancellation_type::terminal;
    EXPECT_EQ(t, cancellation_type::terminal);
    t ^= cancellation_type::terminal;
    EXPECT_EQ(t, cancellation_type::none);
}

TEST(CancellationSignal, WithoutHandlerForgetsWhatIsEmitted) {
    cancellation_signal s;
    s.emit(cancellation_type::all);
    int called = 0;
    s.slot().assign([&](cancellation_type) { ++called; });
    EXPECT_EQ(called, 0);
    s.emit(cancellation_type::all);
    EXPECT_EQ(called, 1);
    s.slot().clear();
    s.emit(cancellation_type::all);
    EXPECT_EQ(called, 1);
}

TEST(CancellationSignal, HandlerHearsTheType) {
    cancellation_signal s;
    std::vector<cancellation_type> heard;
    s.slot().assign([&](cancellation_type t) { heard.push_back(t); });
    s.emit(cancellation_type::partial);
    s.emit(cancellation_type::total | cancellation_type::terminal);
    EXPECT_EQ(heard, (std::vector{cancellation_type::partial, cancellation_type::total | cancellation_type::terminal}));
}

TEST(CancellationSlot, KnowsItsSignalAndWhetherThereIsAHandler) {
    cancellation_slot none;
    EXPECT_FALSE(none.is_connected());
    EXPECT_FALSE(none.has_handler());
    none.clear();
    cancellation_signal s, other;
    auto slot = s.slot();
    EXPECT_TRUE(slot.is_connected());
    EXPECT_FALSE(slot.has_handler());
    EXPECT_EQ(slot, s.slot());
    EXPECT_NE(slot, other.slot());
    EXPECT_NE(slot, none);
    EXPECT_EQ(none, cancellation_slot());
    slot.assign([](cancellation_type) {});
    EXPECT_TRUE(slot.has_handler());
    slot.clear();
    EXPECT_FALSE(slot.has_handler());
}

struct counted {
    std::shared_ptr<int> alive;
    int* called;
    counted(std::shared_ptr<int> a, int* c) : alive(std::move(a)), called(c) {}
    counted(counted const&) = delete;
    void operator()(cancellation_type) { ++*called; }
};

TEST(CancellationSlot, HoldsOneHandlerAndDestroysItOnce) {
    auto const first = std::make_shared<int>(1), second = std::make_shared<int>(2);
    int a = 0, b = 0;
    {
        cancellation_signal s;
        auto& h = s.slot().emplace<counted>(first, &a);
        EXPECT_EQ(h.alive, first);
        EXPECT_EQ(first.use_count(), 2);
        s.slot().emplace<counted>(second, &b);
        EXPECT_EQ(first.use_count(), 1);
        EXPECT_EQ(second.use_count(), 2);
        s.emit(cancellation_type::terminal);
    }
    EXPECT_EQ(second.use_count(), 1);
    EXPECT_EQ(a, 0);
    EXPECT_EQ(b, 1);
}

TEST(CancellationSlot, HandlerWhoseConstructorThrowsLeavesItEmpty) {
    struct thrower {
        thrower() { throw 1; }
        void operator()(cancellation_type) {}
    };
    cancellation_signal s;
    s.slot().assign([](cancellation_type) {});
    EXPECT_THROW(s.slot().emplace<thrower>(), int);
    EXPECT_FALSE(s.slot().has_handler());
    s.emit(cancellation_type::all);
}

TEST(CancellationSlot, LargerHandlersTakeALargerBlock) {
    cancellation_signal s;
    for (int round = 0; round != 3; ++round) {
        int sum = 0;
        s.slot().assign([&](cancellation_type) { ++sum; });
        s.emit(cancellation_type::all);
        s.slot().assign([&, many = std::vector<int>(3, 5), more = std::array<long, 100>{7}](cancellation_type) {
            sum += many[2] + static_cast<int>(more[0]);
        });
        s.emit(cancellation_type::all);
        EXPECT_EQ(sum, 13);
    }
}

TEST(CancellationSignal, HandlerMayClearFillAndEmitAgain) {
    cancellation_signal s;
    int first = 0, second = 0;
    s.slot().assign([&](cancellation_type) {
        ++first;
        auto* const signal = &s;
        auto* const counter = &second;
        s.slot().assign([counter](cancellation_type) { ++*counter; });
        signal->emit(cancellation_type::terminal); // what was captured has gone with the handler
    });
    s.emit(cancellation_type::terminal);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 1);
    s.emit(cancellation_type::terminal);
    EXPECT_EQ(second, 2);
}

TEST(CancellationSignal, HandlerMayDestroyTheSignal) {
    auto s = std::make_unique<cancellation_signal>();
    int called = 0;
    s->slot().assign([&](cancellation_type) {
        ++called;
        s.reset();
    });
    s->emit(cancellation_type::terminal);
    EXPECT_EQ(called, 1);
    EXPECT_FALSE(s);
}

TEST(CancellationSignal, HandlerThatThrowsLeavesItUsable) {
    cancellation_signal s;
    s.slot().assign([](cancellation_type) { throw 1; });
    EXPECT_THROW(s.emit(cancellation_type::all), int);
    EXPECT_TRUE(s.slot().has_handler());
    s.slot().clear();
    s.emit(cancellation_type::all);
}

TEST(CancellationSignal, TakesNoFreshMemoryOnceItIsWarm) {
    auto const round = [] {
        cancellation_signal s;
        for (int i = 0; i != 10; ++i) {
            s.slot().assign([](cancellation_type) {});
            s.emit(cancellation_type::all);
            s.slot().clear();
        }
    };
    round();
    auto const before = this_thread_recycler_counters().fresh;
    round();
    EXPECT_EQ(this_thread_recycler_counters().fresh, before);
}

// ---- association

struct with_slot {
    using cancellation_slot_type = cancellation_slot;
    cancellation_slot slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()() {}
};
struct without {
    void operator()() {}
};

TEST(AssociatedCancellationSlot, ComesFromTheMemberElseIsTheDefault) {
    cancellation_signal s, other;
    with_slot const h{s.slot()};
    EXPECT_EQ(get_associated_cancellation_slot(h), s.slot());
    EXPECT_EQ(get_associated_cancellation_slot(h, other.slot()), s.slot());
    EXPECT_FALSE(get_associated_cancellation_slot(without()).is_connected());
    EXPECT_EQ(get_associated_cancellation_slot(without(), other.slot()), other.slot());
    static_assert(std::is_same_v<associated_cancellation_slot_t<with_slot>, cancellation_slot>);
    static_assert(impl::operation::has_cancellation_slot<with_slot>);
    static_assert(!impl::operation::has_cancellation_slot<without>);
}

TEST(BindCancellationSlot, BindsAndPassesTheOtherAssociationsOn) {
    cancellation_signal s, inner;
    recycling_allocator<int> const a;
    auto h = bind_cancellation_slot(s.slot(), bind_allocator(a, with_slot{inner.slot()}));
    EXPECT_EQ(get_associated_cancellation_slot(h), s.slot()) << "the outermost binder counts";
    static_assert(std::is_same_v<associated_allocator_t<decltype(h)>, recycling_allocator<int>>);
    auto outside = bind_allocator(a, bind_cancellation_slot(s.slot(), without()));
    EXPECT_EQ(get_associated_cancellation_slot(outside), s.slot());
    static_assert(impl::operation::has_cancellation_slot<decltype(outside)>);
    auto plain = bind_allocator(a, without());
    static_assert(!impl::operation::has_cancellation_slot<decltype(plain)>);
    auto const partial = bind_cancellation_slot(s.slot());
    auto full = partial(without());
    EXPECT_EQ(get_associated_cancellation_slot(full), s.slot());
    std::move(full)();
}

// ---- cancellation_state

TEST(CancellationState, RemembersAndPassesOnWhatItsFiltersLetThrough) {
    cancellation_signal s;
    cancellation_state state(s.slot(), enable_partial_cancellation());
    std::vector<cancellation_type> heard;
    EXPECT_TRUE(state.slot().is_connected());
    s.emit(cancellation_type::terminal); // between two steps
    EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
    state.slot().assign([&](cancellation_type t) { heard.push_back(t); });
    s.emit(cancellation_type::total);
    EXPECT_TRUE(heard.empty());
    EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
    s.emit(cancellation_type::all);
    EXPECT_EQ(heard, std::vector{cancellation_type::terminal | cancellation_type::partial});
    EXPECT_EQ(state.cancelled(), cancellation_type::terminal | cancellation_type::partial);
    state.clear(cancellation_type::terminal);
    EXPECT_EQ(state.cancelled(), cancellation_type::partial);
    state.clear();
    EXPECT_EQ(state.cancelled(), cancellation_type::none);
}

TEST(CancellationState, FilterInwardsAndFilterOutwards) {
    cancellation_signal s;
    cancellation_state state(s.slot(), enable_total_cancellation(), enable_terminal_cancellation());
    std::vector<cancellation_type> heard;
    state.slot().assign([&](cancellation_type t) { heard.push_back(t); });
    s.emit(cancellation_type::total | cancellation_type::terminal);
    s.emit(cancellation_type::partial);
    EXPECT_EQ(heard, std::vector{cancellation_type::terminal});
    EXPECT_EQ(state.cancelled(), enable_total_cancellation()(cancellation_type::all));
}

TEST(CancellationState, ByDefaultTerminalAndWithoutParentNothing) {
    cancellation_signal s;
    cancellation_state state(s.slot());
    s.emit(cancellation_type::partial | cancellation_type::total);
    EXPECT_EQ(state.cancelled(), cancellation_type::none);
    s.emit(cancellation_type::all);
    EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
    cancellation_state const empty;
    EXPECT_FALSE(empty.slot().is_connected());
    EXPECT_EQ(empty.cancelled(), cancellation_type::none);
    cancellation_state nobody{cancellation_slot(), disable_cancellation()};
    nobody.clear();
    EXPECT_FALSE(nobody.slot().is_connected());
}

TEST(CancellationState, CopiesShareAndOutliveTheSignal) {
    cancellation_state copy;
    {
        cancellation_signal s;
        cancellation_state const state(s.slot());
        copy = state;
        s.emit(cancellation_type::terminal);
        EXPECT_EQ(copy.slot(), state.slot());
    }
    EXPECT_EQ(copy.cancelled(), cancellation_type::terminal);
    copy.slot().assign([](cancellation_type) {});
    EXPECT_TRUE(copy.slot().has_handler());
}

} // namespace
