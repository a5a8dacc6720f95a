#include <fairlead/exec/loop.hpp>

#include <fairlead/exec/recycler.hpp>

#include <memory>
#include <utility>

namespace fairlead {

constinit thread_local FAIRLEAD_HOT_TLS detail::thread_state detail::this_thread{};

namespace {

// The inbox is a stack whose head is null (the owner is awake and has seen all), a list, or this mark: the owner
// sleeps. Keeping the mark in the head lets producer and sleeper agree with one compare-and-swap each, and only the
// producer that replaces the mark pays for a wake-up.
op asleep_storage;
op* const asleep = &asleep_storage;

/// Stands in for the next record when there is none but an exception.
alignas(await_record) std::byte thrown_storage[1];
await_record* const thrown_mark = reinterpret_cast<await_record*>(thrown_storage); // never looked into

op* next_in_inbox(op& o) noexcept { return static_cast<op*>(o.next); }

} // namespace

loop::~loop() = default;

bool loop::take_while_idle() noexcept {
    // Another thread that has taken it for a moment gives it back within a few instructions. Going by the inbox
    // meanwhile would let the next post of this thread, which finds the loop free, overtake this one.
    while (!running_.load(std::memory_order_acquire)) {
        if (owner_.load(std::memory_order_relaxed) == nullptr && try_own() == nullptr) {
            take_inbox();
            return true;
        }
    }
    return false;
}

void loop::post_from_outside(op& o) noexcept {
    if (take_while_idle()) {
        local_.push_back(o);
        disown();
        return;
    }
    op* head = inbox_.load(std::memory_order_relaxed);
    do
        o.next = head == asleep ? nullptr : head;
    while (!inbox_.compare_exchange_weak(head, &o, std::memory_order_release, std::memory_order_relaxed));
    if (head == asleep)
        wake();
}

bool loop::take_inbox() noexcept {
    if (inbox_empty())
        return false;
    op* head = inbox_.exchange(nullptr, std::memory_order_acquire);
    FAIRLEAD_ASSERT_SLOW(head != asleep);
    // Newest first: turn it round.
    op* in_order = nullptr;
    while (head) {
        op* following = next_in_inbox(*head);
        head->next = in_order;
        in_order = head;
        head = following;
    }
    while (in_order) {
        op* following = next_in_inbox(*in_order);
        local_.push_back(*in_order);
        in_order = following;
    }
    return true;
}

bool loop::fall_asleep() noexcept {
    op* expected = nullptr;
    return inbox_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel, std::memory_order_relaxed);
}

void loop::awake() noexcept {
    op* expected = asleep;
    if (!inbox_.compare_exchange_strong(expected, nullptr, std::memory_order_acquire, std::memory_order_relaxed))
        take_inbox();
}

void loop::outside_work_gone() noexcept {
    // The owner may sleep with nothing left to wait for: let it look. A spurious wake-up is harmless.
    if (!mine())
        wake();
}

bool loop::slice_is_over() noexcept {
    auto const now = clock_ns();
    if (slice_end_ns_ == 0) {
        slice_end_ns_ = now + fairness::slice_ns; // The first look in a batch starts the slice.
        return false;
    }
    return now >= slice_end_ns_;
}

bool loop::spend_slow() noexcept {
    budget_.used += budget_.used == 0 ? fairness::units_least : budget_.used;
    if (budget_.used >= fairness::units_most) {
        ++yields_.budget;
    } else if (!inbox_empty()) {
        ++yields_.remote;
    } else if (slice_is_over()) {
        ++yields_.deadline;
        batch_over_ = true;
    } else {
        budget_.units = budget_.used - 1; // 16 more, then 32, then 64; one is taken now.
        return true;
    }
    // Stays exhausted until the loop dequeues the next item.
    budget_.units = 0;
    budget_.used = fairness::units_most;
    return false;
}

void loop::resume_later(await_record& r) noexcept {
    op& o = r.make<op>();
    o.run = nullptr;
    o.cancel = nullptr;
    r.home->post(o);
}

void loop::throw_after_resume(std::exception_ptr e) {
    auto& thread = detail::this_thread;
    thread.thrown = std::make_unique<std::exception_ptr>(std::move(e)).release();
    thread.next = thrown_mark;
}

void loop::resume_rest() {
    auto& thread = detail::this_thread;
    do {
        await_record* r = std::exchange(thread.next, nullptr);
        if (r == thrown_mark) [[unlikely]] {
            std::unique_ptr<std::exception_ptr> const thrown(std::exchange(thread.thrown, nullptr));
            std::rethrow_exception(*thrown);
        }
        // Calling and finishing children takes part in the budget: a loop over children that never suspend would
        // otherwise stay in here for ever.
        if (!r->home->spend()) {
            resume_later(*r);
            return;
        }
        r->handle.resume();
    } while (thread.next);
}

void loop::resume_elsewhere(await_record& r, op& o) {
    if (r.home != this) {
        r.home->post(o); // The operation belonged to this loop, the coroutine to another: it goes home with its result.
        return;
    }
    if (r.foreign) {
        r.foreign = false;
        work_finished();
    }
    if (r.hooks && r.hooks->done)
        r.hooks->done(&r);
    else
        resume_chain(r);
}

std::size_t loop::run_batch(std::size_t most) {
    if (most > fairness::batch_items)
        most = fairness::batch_items;
    slice_end_ns_ = 0;
    batch_over_ = false;
    std::size_t done = 0;
    while (done != most && !local_.empty()) {
        op* const o = local_.pop_front();
        budget_.fill();
        ++done;
        if (o->run)
            o->run(o, op_mode::complete);
        else
            resume_op(*o);
        if (stopped_.load(std::memory_order_relaxed) || batch_over_) [[unlikely]]
            break;
    }
    return done;
}

namespace {

/// Destroys a chain of suspended coroutines from its innermost on, one after the other: a frame that destroyed the one
/// it awaits, and so on, would need as much stack as the chain is long.
struct doom_op : op {
    await_record* innermost;

    static void run_it(op* base, op_mode) {
        await_record* r = static_cast<doom_op*>(base)->innermost;
        while (r) {
            await_record* const parent = r->parent;
            auto const frame = r->handle;
            if (parent)
                *r->owner = nullptr;
            frame.destroy();
            r = parent;
        }
    }
};

} // namespace

void loop::doom(await_record& r) noexcept {
    await_record* root = &r;
    while (root->parent)
        root = root->parent;
    if (root->doomed)
        return;
    root->doomed = true;
    auto& o = root->make<doom_op>();
    o.innermost = &r;
    o.run = &doom_op::run_it;
    o.cancel = nullptr;
    root->home->post(o);
}

void loop::abandon(op& o) {
    if (o.run) {
        o.run(&o, op_mode::abandon);
        return;
    }
    await_record& r = await_record::of(o);
    loop* const waiting = std::exchange(r.foreign, false) ? r.home : nullptr;
    if (r.hooks && r.hooks->abandon)
        r.hooks->abandon(&r);
    else
        doom(r);
    if (waiting)
        waiting->work_finished();
}

bool loop::abandon_queued() {
    take_inbox();
    op_queue all;
    all.splice_back(local_); // What the abandoned ones queue waits for the next pass, doomed coroutines too.
    bool const any = !all.empty();
    while (!all.empty())
        abandon(*all.pop_front());
    return any;
}

} // namespace fairlead
