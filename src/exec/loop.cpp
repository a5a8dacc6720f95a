#include <fairlead/exec/loop.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/recycler.hpp>

#include <exec/park.hpp>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

namespace fairlead {

static_assert(std::is_standard_layout_v<await_record>);
static_assert(offsetof(await_record, bytes) == await_record::offset);
static_assert(sizeof(await_record) == 240);

constinit thread_local FAIRLEAD_HOT_TLS impl::exec::thread_state impl::exec::this_thread{};

namespace {

// The inbox is a stack whose head is null (the owner is awake and has seen all), a list, or this mark: the owner
// sleeps. Keeping the mark in the head lets producer and sleeper agree with one compare-and-swap each. Only the
// producer that replaces the mark pays for a wake-up.
op asleep_storage;
op* const asleep = &asleep_storage;

op* next_in_inbox(op& o) noexcept { return static_cast<op*>(o.next); }

/// Around a handler, inside the section of its run(): what the thread owns may be taken from it there.
class outside_section {
public:
    outside_section() noexcept {
        auto& thread = impl::exec::this_thread;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread.owning.sections.store(thread.frames->section_of_handlers, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    outside_section(outside_section const&) = delete;
    outside_section& operator=(outside_section const&) = delete;
    ~outside_section() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        impl::exec::this_thread.owning.sections.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
};

} // namespace

loop::~loop() = default;

char loop::not_a_handler_;

bool loop::is_running_further_out(impl::exec::run_frame const& f) const noexcept {
    for (auto const* outer = f.outer; outer; outer = outer->outer)
        if (outer->runs == this)
            return true;
    return false;
}

yield_counters loop::yields() const noexcept {
    auto const count = [this](int cause) { return yields_[cause].load(std::memory_order_relaxed); };
    return {count(0), count(1), count(2)};
}

bool loop::take_while_idle() noexcept {
    if (impl::exec::this_thread.waits) [[unlikely]]
        impl::exec::this_thread.waits->note(*this);
    // Another thread that has taken it for a moment gives it back within a few instructions. Going by the inbox
    // meanwhile would let the next post of this thread, which finds the loop free, overtake this one.
    while (!ownership_.has_members()) {
        if (ownership_.is_free() && ownership_.try_take(impl::exec::this_thread.owning)) {
            take_inbox();
            return true;
        }
    }
    return false;
}

void loop::leave_to_others(bool at_once) noexcept {
    is_anything_queued_.store(!local_.empty(), std::memory_order_relaxed);
    disown(at_once);
}

void loop::watch(std::int64_t timeout_ns) noexcept {
    is_anything_queued_.store(false, std::memory_order_relaxed);
    ownership_.give_back_and_watch(impl::exec::this_thread.owning, timeout_ns);
}

void loop::step_back() noexcept {
    leave_to_others(false);
    for (int i = 0; i != 100; ++i)
        impl::exec::park::pause();
}

/// Most owners keep the loop for a moment only.
bool loop::take_soon() noexcept {
    for (int i = 0; i != 100; ++i) {
        if (ownership_.is_free() && ownership_.try_take(impl::exec::this_thread.owning))
            return true;
        impl::exec::park::pause();
    }
    return false;
}

void loop::push_inbox(op& o) noexcept {
    op* head = inbox_.load(std::memory_order_relaxed);
    do {
        if (head == asleep) {
            push_inbox_and_wake(o);
            return;
        }
        o.next = head;
    } while (!inbox_.compare_exchange_weak(head, &o, std::memory_order_release, std::memory_order_relaxed));
}

void loop::push_inbox_and_wake(op& o) noexcept {
    // Something else may wake the owner before we do, and the op may be the last it was there for.
    impl::exec::rundown::guard const here(rundown_);
    op* head = inbox_.load(std::memory_order_relaxed);
    do
        o.next = head == asleep ? nullptr : head;
    while (!inbox_.compare_exchange_weak(head, &o, std::memory_order_release, std::memory_order_relaxed));
    if (head == asleep)
        wake();
}

void loop::post_from_outside(op& o, impl::exec::inside_section s) noexcept {
    if (mine(s)) {
        local_.push_back(o);
        return;
    }
    // An owner that sleeps would not look into a share.
    if (has_share_here() && !is_asleep()) {
        impl::exec::this_thread.frames->share.push(o);
        return;
    }
    if (hold_while_idle const held(*this); held) {
        local_.push_back(o);
        return;
    }
    o.prev = nullptr;
    push_inbox(o);
}

void loop::drop_in(op& o) noexcept {
    impl::exec::section const s;
    if (mine(s)) {
        local_.push_back(o);
        return;
    }
    o.prev = nullptr;
    push_inbox(o);
}

void loop::post_request(op& o, impl::exec::owner_request& what) noexcept {
    o.prev = &what;
    push_inbox(o);
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
        ++taken_from_inbox_;
        if (in_order->prev)
            static_cast<impl::exec::owner_request*>(in_order->prev)->carry_out(*this, *in_order);
        else
            local_.push_back(*in_order);
        in_order = following;
    }
    return true;
}

bool loop::fall_asleep() noexcept {
    op* expected = nullptr;
    return inbox_.compare_exchange_strong(expected, asleep, std::memory_order_seq_cst, std::memory_order_relaxed);
}

bool loop::has_posts() const noexcept {
    op const* const head = inbox_.load(std::memory_order_relaxed);
    return head && head != asleep;
}

bool loop::is_asleep() const noexcept { return inbox_.load(std::memory_order_seq_cst) == asleep; }

bool loop::awake() noexcept {
    op* expected = asleep;
    if (inbox_.compare_exchange_strong(expected, nullptr, std::memory_order_acquire, std::memory_order_relaxed))
        return false;
    take_inbox();
    return true;
}

bool loop::is_posted_in_a_moment() const noexcept {
    for (int i = 0; i != 16 && inbox_empty(); ++i)
        impl::exec::park::pause();
    return !inbox_empty();
}

bool loop::has_a_second_processor() noexcept {
    static bool const has = impl::exec::park::processors() > 1;
    return has;
}

void loop::last_work_finished() noexcept {
    impl::exec::section const s;
    if (mine(s)) {
        outside_work_.fetch_sub(1, std::memory_order_acq_rel);
        return;
    }
    // The owner may sleep with nothing left to wait for: let it look. A spurious wake-up is harmless. If it does not
    // sleep it may find that by itself, and the loop may end, before we have woken it.
    impl::exec::rundown::guard const here(rundown_);
    if (outside_work_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        wake();
}

bool impl::exec::spend_slow() noexcept {
    auto& thread = impl::exec::this_thread;
    auto& item = thread.item;
    loop* const l = thread.current;
    enum cause { budget, deadline, remote } why;
    if (item.granted >= fairness::units_most) {
        why = budget;
    } else if (l && l->has_posts()) {
        why = remote;
    } else if (item.grant_all_if_quick()) {
        return true;
    } else {
        auto const now = l ? l->clock_ns() : park::now_ns();
        if (item.slice_end_ns == 0) // The first look starts the slice, if nobody has looked before.
            item.slice_end_ns = now + fairness::slice_ns;
        if (now < item.slice_end_ns) {
            item.grant_more(now);
            return true;
        }
        item.end_slice();
        why = deadline;
    }
    // Else an item before this one that takes nearly a slice would leave it nothing, in each turn.
    if (item.grant_first())
        return true;
    if (l)
        l->yields_[why].fetch_add(1, std::memory_order_relaxed);
    item.exhaust();
    return false;
}

void impl::exec::heed_requests(await_record& r) noexcept {
    if (r.is_to_end())
        impl::exec::this_thread.item.exhaust();
}

void loop::yield(await_record& r) noexcept {
    op& o = r.make<op>();
    o.run = nullptr;
    o.cancel = nullptr;
    auto* const f = impl::exec::this_thread.frames;
    if (f && f->runs == r.home) [[likely]]
        f->runs->post_last(o);
    else
        r.home->resume_soon(o);
}

void loop::resume_later(await_record& r) noexcept {
    op& o = r.make<op>();
    o.run = nullptr;
    o.cancel = nullptr;
    r.home->resume_soon(o);
}

void loop::resume_rest() {
    auto& thread = impl::exec::this_thread;
    do {
        await_record* r = std::exchange(thread.next, nullptr);
        // Calling and finishing children takes part in the budget: a loop over children that never suspend would
        // otherwise stay in here for ever.
        if (!impl::exec::spend()) {
            resume_later(*r);
            return;
        }
        if (auto* const innermost = r->innermost)
            innermost->handle().resume();
        else
            r->hooks->resume(r);
    } while (thread.next);
}

void loop::resume_at(resumer* here, await_record& r, op& o) {
    if (r.home != here) {
        r.home->resume_soon(
            o); // The operation belonged to a loop, the coroutine elsewhere: it goes home with its result.
        return;
    }
    if (r.notes & await_record::is_foreign) {
        r.notes &= static_cast<unsigned char>(~await_record::is_foreign);
        here->count_work(-1);
    }
    if (r.notes & await_record::can_be_asked)
        impl::exec::heed_requests(r);
    resume_chain(r);
}

namespace {

/// Something that an executor which is no loop runs in a thread of its own: an item, measured if that is due.
class outside_item {
public:
    explicit outside_item(impl::exec::thread_state& thread) noexcept : thread_(thread) {
        thread.is_outside = true;
        if (thread.outside.is_due())
            thread.outside.look(impl::exec::park::now_ns());
        thread.item = {.items = thread.outside.items() - 1, .slice_end_ns = thread.outside.slice_end_ns()};
        thread.item.fill(thread.item.first = thread.outside.first_units());
    }
    outside_item(outside_item const&) = delete;
    outside_item& operator=(outside_item const&) = delete;
    ~outside_item() {
        thread_.outside.ran(1 + thread_.item.functions);
        if (thread_.outside.is_measuring()) {
            thread_.outside.look(impl::exec::park::now_ns());
            thread_.outside.rest();
        }
        thread_.is_outside = false;
    }

private:
    impl::exec::thread_state& thread_;
};

} // namespace

void loop::run_outside_alone(op& o) {
    outside_item const whole(impl::exec::this_thread);
    run_outside(o);
}

void loop::run_outside(op& o) {
    auto const& thread = impl::exec::this_thread;
    if (!thread.frames && !thread.is_outside)
        return run_outside_alone(o);
    if (o.run) {
        o.run(&o, op_mode::complete);
    } else {
        await_record& r = await_record::of(o);
        resume_at(r.home, r, o);
    }
}

impl::exec::budget& loop::begin_stretch(impl::exec::pace const& pace, std::size_t most) noexcept {
    auto& item = impl::exec::this_thread.item;
    item.items = static_cast<unsigned>(std::min<std::size_t>(most, pace.items()));
    item.functions = 0;
    item.given_up = 0;
    item.first = pace.first_units();
    item.quick = 0;
    item.slice_end_ns = pace.slice_end_ns();
    return item;
}

loop::batch loop::run_batch(std::size_t most, std::size_t& done, impl::exec::inside_section only) {
    auto& item = begin_stretch(pace_, most);
    struct count {
        impl::exec::budget const& item;
        std::size_t& done;
        unsigned const allowed = item.items;
        unsigned ran() const noexcept { return allowed - item.items - item.given_up; }
        ~count() { done += ran() - item.functions; }
    } const count_items{item, done};
    auto const first_units = item.first;
    while (item.items != 0 && !local_.empty()) {
        op* const o = local_.pop_front();
        item.fill(first_units);
        --item.items;
        try {
            outside_section const handler;
            if (o->run)
                o->run(o, op_mode::complete);
            else
                resume_op(*o);
        } catch (...) {
            if (mine(only))
                have_run(count_items.ran());
            else
                revoked_is_back();
            throw;
        }
        if (!plainly_mine(only) && !mine(only)) [[unlikely]] {
            revoked_is_back();
            return batch::lost;
        }
        if (stopped_.load(std::memory_order_relaxed)) [[unlikely]]
            break;
    }
    have_run(count_items.ran());
    return batch::kept;
}

void loop::revoked_is_back() noexcept {
    if (ownership_.revoked_is_back() && is_asleep())
        wake();
}

bool loop::has_share_of_driver() const noexcept { return has_share_here() && is_driver_shared_; }

void loop::close_share(impl::exec::share& s) noexcept {
    while (op* const o = s.pop()) {
        o->prev = nullptr;
        push_inbox(*o);
    }
    shares_.close(s);
}

bool loop::is_better_alone() noexcept {
    auto const& of_share = impl::exec::this_thread.frames->share.pace();
    bool const was = is_kept_;
    is_kept_ = !local_.empty() && (was ? pace_.is_tiny() : of_share.is_tiny());
    if (is_kept_ && !was)
        pace_ = of_share;
    return is_kept_;
}

// After which a thread that has been woken has come, if it has a processor.
constexpr std::int64_t waking_takes_ns = 100'000;

/// Owner: moves items from the queue to the share, at most so many. If a thread is idle, it leaves it half of what is
/// there, as long as that takes longer than waking it. Returns how many are in the share, and whether another thread is
/// to be woken for the rest.
unsigned loop::take_share(impl::exec::share& share, unsigned most, bool& leaves_some) noexcept {
    unsigned n = 0;
    for (; n != most && !local_.empty(); ++n)
        share.push(*local_.pop_front());
    // Counting brings the items of another thread to this one's processor.
    constexpr unsigned enough = 8;
    auto const left = local_.count_up_to(enough);
    bool const is_anybody_idle = ownership_.members() > shares_.count() + 1;
    bool const is_worth_it = share.lasts() ? !share.pace().is_tiny() : share.pace().is_worth_waking(n + left);
    if (is_anybody_idle && is_worth_it && left != enough)
        for (auto const own = std::max((n + left) / 2, 1U); n > own; --n)
            local_.push_front(*share.pop_back());
    leaves_some = !local_.empty() && is_worth_it;
    return n;
}

unsigned loop::run_share(std::size_t most, std::size_t& done, impl::exec::inside_section) {
    auto& thread = impl::exec::this_thread;
    auto& share = thread.frames->share;
    auto& pace = share.pace();
    auto const began = clock_ns();
    pace.rest();
    pace.look(began);
    auto& item = begin_stretch(pace, most - done);
    // Handlers inside another run() of this loop have a section around them: nobody could take their share over.
    bool const is_open = thread.frames->section_of_handlers == 0 && impl::exec::shares::are_possible();
    auto const of_share = pace.is_worth_waking(fairness::items_of_share) ? fairness::items_of_share : item.items;
    bool leaves_some = false;
    unsigned const taken = take_share(share, is_open ? std::min(item.items, of_share) : 1, leaves_some);
    item.items = taken;
    have_run(taken);
    // The operations that the items are about to start are not known yet: no other thread may find that there is no
    // work left.
    outside_work_.fetch_add(1, std::memory_order_relaxed);
    share.gets_on();
    if (is_open)
        shares_.open(share);
    impl::base::at_scope_end const under_way([this, &share] {
        if (share.is_open())
            close_share(share);
        if (outside_work_.fetch_sub(1, std::memory_order_seq_cst) == 1 && is_asleep())
            wake();
    });
    // An owner of nothing but the driver is of use if the next item may take long.
    leave_to_others(leaves_some || item.first == 0);
    // A thread that was woken for the rest needs some time to come.
    auto const patient_until = leaves_some ? began + waking_takes_ns : began;
    share.set_lasts(false);
    unsigned have_had_turns = 0;
    for (;;) {
        unsigned const allowed = item.items;
        while (item.items != 0) {
            op* const o = share.pop();
            if (!o)
                break;
            item.fill(item.first);
            --item.items;
            bool const is_handler = !impl::exec::has_ticket(*o, not_a_handler());
            done += is_handler;
            {
                outside_section const handler;
                if (o->run)
                    o->run(o, op_mode::complete);
                else
                    resume_op(*o);
            }
            item.functions -= !is_handler;
            if (done == most || stopped_.load(std::memory_order_relaxed))
                break;
        }
        auto const ran = allowed - item.items - item.given_up;
        have_had_turns += ran;
        pace.ran(ran);
        bool const is_over = share.empty() || done == most || stopped_.load(std::memory_order_relaxed);
        if (is_over && pace.is_sure())
            break;
        auto const now = clock_ns();
        pace.look(now);
        share.gets_on();
        if (is_over)
            break;
        bool const is_queued = is_anything_queued_.load(std::memory_order_relaxed) && now >= patient_until;
        if (is_queued || has_posts() || now >= pace.slice_end_ns()) {
            share.set_lasts(now >= pace.slice_end_ns());
            if (take_soon()) {
                share.move_to(local_);
                break;
            }
            // An owner that sleeps leaves nobody else waiting. Otherwise what is left has to stand behind what is
            // queued.
            if (!is_asleep())
                break;
            pace.begin_slice(now);
        }
        begin_stretch(pace, most - done);
    }
    return have_had_turns > taken ? have_had_turns - taken : 0;
}

void loop::abandon(op& o) {
    if (o.run) {
        o.run(&o, op_mode::abandon);
        return;
    }
    await_record& r = await_record::of(o);
    resumer* const waiting = r.notes & await_record::is_foreign ? r.home : nullptr;
    r.notes &= static_cast<unsigned char>(~await_record::is_foreign);
    r.hooks->abandon(&r);
    if (waiting)
        waiting->count_work(-1);
}

bool loop::abandon_queued() {
    bool const came = take_inbox(); // Requests are carried out: what they start is pending then.
    op_queue all;
    all.splice_back(local_); // Ops that the abandoned ones queue wait for the next pass, the ends of chains too.
    bool const any = came || !all.empty();
    while (!all.empty())
        abandon(*all.pop_front());
    return any;
}

} // namespace fairlead
