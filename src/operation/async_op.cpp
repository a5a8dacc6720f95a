#include <fairlead/operation/async_op.hpp>

namespace fairlead::impl::operation {

void throw_named(error_code const& ec, std::string (*describe)(void const*, await_record const&), void const* storage,
                 await_record const& record) {
    base::throw_error_now(ec, describe ? describe(storage, record).c_str() : "co_await");
}
template <>
void take_with<void(error_code)>(initiation_functions<error_code> const* f, void* storage, await_record& r) {
    instantiate_take<void(error_code)>(f, storage, r);
}
template <> std::size_t take_with<void(error_code, std::size_t)>(initiation_functions<error_code, std::size_t> const* f,
                                                                 void* storage, await_record& r) {
    return instantiate_take<void(error_code, std::size_t)>(f, storage, r);
}
void operation_has_gone() noexcept {
    base::assertion_failed("this operation has gone: it was moved, started or awaited before", __FILE__, __LINE__);
}

void start_without_memory() { throw std::bad_alloc(); }

void await_has_failed(await_record& r, std::exception_ptr why) {
    store_result(r, std::move(why));
    r.state = exec::await_state::failed;
    exec::this_thread.await_failed = true;
}

void throw_failed(await_record& r) {
    r.state = exec::await_state::idle;
    exec::this_thread.await_failed = false;
    std::rethrow_exception(take_result<std::exception_ptr>(r));
}

void* allocate_beside(await_record& r, std::size_t bytes) {
    return r.hooks->allocate ? r.hooks->allocate(r, bytes) : exec::recycle_allocate(bytes);
}

void deallocate_beside(await_record& r, void* p, std::size_t bytes) noexcept {
    if (r.hooks->deallocate)
        r.hooks->deallocate(r, p, bytes);
    else
        exec::recycle_free(p);
}

void finish_await(await_record& r) {
    auto& thread = exec::this_thread;
    if (thread.starting == &r) {
        thread.starting = nullptr; // Completed inside its own start: whoever started it goes on.
        return;
    }
    // Inline only one deep: an operation that completes another coroutine's operation must not grow the stack with it.
    bool const here = !r.home || (thread.depth == 0 && r.home->runs_here());
    if (here)
        loop::resume_chain(r);
    else
        loop::resume_later(r);
}

bool chain_requests::listen(cancellation_slot slot) {
    parent = slot;
    reset(enable_terminal_cancellation(), enable_terminal_cancellation());
    return slot.is_connected();
}

void chain_requests::keep_first() noexcept {
    if (state.lies_with_the_asker())
        first = state;
}

cancellation_state const& chain_requests::shared() {
    if (state.lies_with_the_asker()) {
        reset(enable_terminal_cancellation(), enable_terminal_cancellation());
        state.remember(first.cancelled()); // A request is remembered there before the slot hears of it.
    }
    return state;
}

void submit_asked(askable_await const& a, loop& of_op, void (*submit)(void*, await_record&) noexcept) {
    auto& state = requests_of(*a.record).state;
    bool const goes_on = a.record->notes & await_record::goes_on;
    state.await_begins(a);
    exec::section const s;
    if (of_op.plainly_mine(s)) { // In this section nobody else runs the op.
        submit(a.storage, *a.record);
        state.await_has_begun(!goes_on);
        return;
    }
    auto const kept = state; // The chain may be gone when the op has been submitted.
    submit(a.storage, *a.record);
    kept.await_has_begun(!goes_on);
}

op_mode asked_await_has_ended(await_record& r, op_mode mode) noexcept {
    requests_of(r).state.await_has_ended();
    return is_to_be_destroyed(r) ? op_mode::abandon : mode;
}

bool is_cancellation(std::exception_ptr const& e) noexcept {
    try {
        std::rethrow_exception(e);
    } catch (system_error const& s) {
        return base::is_cancelled(s.code());
    } catch (...) {
        return false;
    }
}

namespace {

void refuse(await_record& r) {
    await_has_failed(r, std::make_exception_ptr(system_error(error::make_error_code(error::operation_aborted),
                                                             "co_await of a cancelled coroutine")));
    exec::this_thread.item.exhaust(); // So that the next one comes here, too.
}

/// Tells a chain that was told before, in its next turn: one that catches the exception and goes on starves nobody.
void refuse_in_its_turn(op* o, op_mode mode) {
    auto& r = await_record::of(*o);
    if (mode == op_mode::abandon)
        return drop_await(r);
    if (is_to_be_destroyed(r))
        return r.hooks->abandon(&r);
    refuse(r);
    loop::resume_chain(r);
}

} // namespace

refusal refusal_of(await_record& r) {
    if (!r.hooks->is_asked(r)) [[likely]] // Nor is it to be destroyed.
        return refusal::none;
    if (is_to_be_destroyed(r)) {
        r.hooks->abandon(&r);
        return refusal::suspends;
    }
    if (!r.is_to_end())
        return refusal::none;
    if (r.notes & await_record::was_refused) {
        auto& o = r.make<op>();
        o.run = &refuse_in_its_turn;
        o.cancel = nullptr;
        r.home->resume_soon(o);
        return refusal::suspends;
    }
    r.notes |= await_record::was_refused;
    refuse(r);
    return refusal::throws;
}

void drop_await(await_record& r) noexcept {
    auto& thread = exec::this_thread;
    if (thread.starting == &r) {
        thread.starting = nullptr;
        thread.dropped = true;
        return;
    }
    r.hooks->abandon(&r);
}

namespace {

std::coroutine_handle<>& foreign_handle(await_record* r) noexcept { return static_cast<foreign_record*>(r)->handle; }

} // namespace

exec::record_hooks const foreign_hooks{
    .resume = [](await_record* r) { foreign_handle(r).resume(); },
    .abandon = [](await_record* r) { foreign_handle(r).destroy(); }, // No root is known of it.
    .destroy = nullptr,
    .is_asked = nullptr,
    .requests = nullptr,
    .member = nullptr,
    .is_to_be_destroyed = nullptr};

} // namespace fairlead::impl::operation
