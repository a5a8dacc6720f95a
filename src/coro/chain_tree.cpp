#include <fairlead/coro/chain_tree.hpp>

#include <exception>

namespace fairlead::impl::coro {
namespace {

constexpr int asked_in_a_turn = 64;

} // namespace

void group_member::leave(member_end how) noexcept {
    end_ = how;
    auto const last = std::move(requests_.state); // With it, or with a copy of it elsewhere, the member leaves.
}

void group_member::requests_have_gone(operation::chained_signal& s) noexcept {
    auto& m = static_cast<own_signal&>(s).owner;
    if (m.group_) // Otherwise it never became a member.
        m.group_->member_leaves(m);
}

member_chain::member_chain(exec::record_hooks const& h) noexcept : spawn_root(h) {
    notes = can_be_asked | is_member;
    requests_.parent = asked_.slot();
}

void member_chain::start() {
    if (group()->keeps(home))
        start_kept();
    else
        spawn_root::start();
}

/// Terminal requests are let through, until the coroutine has another state.
void member_chain::ask(cancellation_type type) {
    if (auto const passed = type & cancellation_type::terminal; !!passed) {
        exec::this_thread.item.exhaust(); // The coroutine that runs in it may be the one that is asked.
        signal_.remember(passed);
        signal_.ask(passed);
    }
    asked_.emit(type);
}

void member_chain::end_chain(member_end how) noexcept {
    release();
    leave_home();
    if (requests_.first.lies_with_the_asker()) {
        requests_.stop_listening();
        requests_.state = std::move(requests_.first);
    }
    leave(how);
}

void member_chain::has_been_destroyed() noexcept { end_chain(member_end::destroyed); }

chain_group::~chain_group() {
    FAIRLEAD_ASSERT((!has_started_ || running_ == 0) && "a group outlives its members");
    while (group_member* const m = first_)
        m->chain_->hooks->destroy(m->chain_);
    forget_all(gone_);
}

void chain_group::add(group_member& m, await_record& record) noexcept {
    FAIRLEAD_ASSERT(!awaited_by_ && "a group that is awaited takes no more members");
    take_in(m, record);
}

void chain_group::take_out(group_member& m) noexcept {
    (m.previous_ ? m.previous_->next_ : first_) = m.next_;
    (m.next_ ? m.next_->previous_ : last_) = m.previous_;
    if (next_to_ask_ == &m)
        next_to_ask_ = m.next_;
}

void chain_group::member_leaves(group_member& m) noexcept {
    auto const deciding = m.end_ == member_end::failure ? group_end::first_failure : group_end::first_success;
    lock_.lock();
    take_out(m);
    if (m.end_ != member_end::destroyed && (asks_at_ == group_end::first || asks_at_ == deciding) && !decided_by_)
        [[unlikely]] {
        decided_by_ = &m;
        lock_.unlock();
        begin_walk(asks_for_, false, walk_begins::at_once);
        lock_.lock();
    }
    auto const rest = m.leaves();
    if (rest.tells_owner) {
        lock_.unlock(); // `m` may go, unless it is given back here.
        owner_->member_has_left();
        lock_.lock();
    }
    bool const goes_now = rest.is_given_back && !goes_after_the_walk(m);
    bool const all = --running_ == 0 && has_started_;
    lock_.unlock();
    if (goes_now)
        m.forgotten();
    if (all)
        complete();
}

/// Under the lock. False: no walk looks at the member.
bool chain_group::goes_after_the_walk(group_member& m) noexcept {
    if (is_walking_) {
        m.next_ = gone_;
        gone_ = &m;
    }
    return is_walking_;
}

void chain_group::forget(group_member& m) noexcept {
    lock_.lock();
    bool const later = goes_after_the_walk(m);
    lock_.unlock();
    if (!later)
        m.forgotten();
}

void chain_group::forget_all(group_member* gone) noexcept {
    while (gone)
        std::exchange(gone, gone->next_)->forgotten();
}

bool chain_group::start_all(await_record& r) {
    bool const can_be_asked = r.notes & await_record::can_be_asked;
    awaited_by_ = &r;
    bool const begins_anyway = hearing_ == group_hearing::waits_for_members && !operation::is_to_be_destroyed(r);
    if (can_be_asked && !begins_anyway)
        if (auto const refused = operation::refusal_of(r); refused != operation::refusal::none)
            return refused == operation::refusal::suspends;
    r.make<awaited_group>().group = this;
    r.state = exec::await_state::group;
    lock_.lock();
    ++running_; // The start itself: until it is over nothing goes.
    next_to_ask_ = first_;
    while (group_member* const m = next_to_ask_) {
        next_to_ask_ = m->next_;
        bool const decided = decided_by_;
        lock_.unlock();
        if (decided)
            m->chain_->hooks->destroy(m->chain_);
        else
            m->start();
        lock_.lock();
    }
    has_started_ = true;
    auto const asked = asked_;
    bool const destroys = destroys_;
    auto const* const spared = spared_;
    lock_.unlock();
    if (!!asked)
        begin_walk(asked, destroys, walk_begins::at_once, spared);
    if (can_be_asked) {
        bool const goes_on = r.notes & await_record::goes_on;
        auto const state = operation::requests_of(r).state;
        state.await_begins({hearing_ == group_hearing::asks_members ? &ask_awaited : &only_destroy_awaited, this, &r});
        state.await_has_begun(!goes_on);
    }
    if (!was_the_last())
        return true;
    return have_all_ended(r);
}

void chain_group::rethrow_refusal() {
    if (awaited_by_->state == exec::await_state::failed)
        operation::throw_failed(*awaited_by_);
}

bool chain_group::was_the_last() noexcept {
    lock_.lock();
    bool const all = --running_ == 0;
    lock_.unlock();
    return all;
}

/// True: the awaiting chain is destroyed in place of being resumed.
bool chain_group::have_all_ended(await_record& r) noexcept {
    auto mode = op_mode::complete;
    if (r.notes & await_record::can_be_asked)
        mode = operation::asked_await_has_ended(r, mode);
    r.state = exec::await_state::idle;
    if (mode == op_mode::abandon)
        r.hooks->abandon(&r);
    return mode == op_mode::abandon;
}

void chain_group::one_less() noexcept {
    if (was_the_last() && has_started_)
        complete();
}

void chain_group::complete() noexcept {
    await_record& r = *awaited_by_;
    if (!have_all_ended(r))
        loop::resume_later(r); // Members end in any thread, and deep inside others.
}

void chain_group::ask(cancellation_type type) noexcept { begin_walk(type, false, walk_begins::soon); }
void chain_group::destroy() noexcept { begin_walk(cancellation_type::all, true, walk_begins::soon); }
void chain_group::ask_all_but(group_member const& spared, cancellation_type type) noexcept {
    begin_walk(type, false, walk_begins::soon, &spared);
}

/// The verb of a group.
void chain_group::ask_awaited(void* storage, await_record& r, cancellation_type type) noexcept {
    static_cast<chain_group*>(storage)->begin_walk(type, operation::is_to_be_destroyed(r), walk_begins::soon);
}

/// That of a group whose members hear of nothing else.
void chain_group::only_destroy_awaited(void* storage, await_record& r, cancellation_type type) noexcept {
    if (operation::is_to_be_destroyed(r))
        ask_awaited(storage, r, type);
}

/// At once: the caller is counted itself, so that the walk is not the last to be.
void chain_group::begin_walk(cancellation_type type, bool destroys, walk_begins when,
                             group_member const* spared) noexcept {
    lock_.lock();
    spared_ = !!asked_ && !spared_ ? nullptr : spared; // Once all have been asked, none is spared any more.
    asked_ = asked_ | type;
    destroys_ |= destroys;
    bool const goes = has_started_ && first_; // Otherwise the start does it, or all have ended.
    bool const begins = goes && !is_walking_;
    if (goes) {
        next_to_ask_ = first_;
        is_walking_ = true;
    }
    running_ += begins; // The group stays until its walk is over.
    lock_.unlock();
    if (!begins)
        return;
    if (when == walk_begins::at_once && ask_some_in_place())
        return one_less();
    walk_op_.group = this;
    walk_op_.run = &walk;
    walk_op_.cancel = nullptr;
    awaited_by_->home->resume_soon(walk_op_);
}

/// The first members. False: the walk is to ask all of them.
bool chain_group::ask_some_in_place() noexcept {
    lock_.lock();
    bool all = true;
    for (int i = 0; i != asked_in_a_turn && all && next_to_ask_; ++i) {
        group_member* const m = next_to_ask_;
        next_to_ask_ = m->next_;
        if (m == spared_)
            continue;
        auto const type = asked_;
        if (destroys_)
            m->destroys_.store(true, std::memory_order_relaxed);
        lock_.unlock();
        all = m->ask_in_place(type);
        lock_.lock();
    }
    all &= !next_to_ask_;
    is_walking_ = !all;
    next_to_ask_ = first_;
    auto* const gone = all ? std::exchange(gone_, nullptr) : nullptr;
    lock_.unlock();
    forget_all(gone);
    return all;
}

void chain_group::walk(op* o, op_mode mode) {
    auto& g = *static_cast<walk_op*>(o)->group;
    if (mode == op_mode::abandon)
        return g.one_less();
    g.ask_some();
}

void chain_group::ask_some() {
    for (int i = 0; i != asked_in_a_turn; ++i) {
        lock_.lock();
        group_member* const m = next_to_ask_;
        if (!m) {
            is_walking_ = false;
            auto* const gone = std::exchange(gone_, nullptr);
            lock_.unlock();
            forget_all(gone);
            return one_less();
        }
        next_to_ask_ = m->next_;
        if (m == spared_) {
            lock_.unlock();
            continue;
        }
        auto const type = asked_;
        bool const destroys = destroys_;
        lock_.unlock();
        if (destroys)
            m->destroys_.store(true, std::memory_order_relaxed);
        try {
            m->ask(type);
        } catch (...) { // a filter of the member's
            awaited_by_->home->resume_soon(walk_op_);
            throw;
        }
    }
    awaited_by_->home->resume_soon(walk_op_); // The rest in the next turn.
}

} // namespace fairlead::impl::coro
