#include <fairlead/token/async_op.hpp>

namespace fairlead::detail {

void finish_await(await_record& r) {
    auto& thread = this_thread;
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

bool is_refused(await_record& r) {
    if (!is_to_end(r))
        return false;
    store_result(r, std::make_exception_ptr(system_error(error::make_error_code(error::operation_aborted),
                                                         "co_await of a cancelled coroutine")));
    r.state = await_state::failed;
    this_thread.item.exhaust(); // So that the next one comes here, too.
    return true;
}

void drop_await(await_record& r) noexcept {
    auto& thread = this_thread;
    if (thread.starting == &r) {
        thread.starting = nullptr;
        thread.dropped = true;
        return;
    }
    if (r.hooks && r.hooks->abandon)
        r.hooks->abandon(&r);
    else
        loop::doom(r);
}

namespace {

/// No root is known of a foreign coroutine: its own frame is destroyed.
void destroy_foreign(await_record* r) { r->handle.destroy(); }

} // namespace

record_hooks const foreign_hooks{
    .resume = nullptr, .abandon = &destroy_foreign, .destroy = nullptr, .is_asked = nullptr, .requests = nullptr};

} // namespace fairlead::detail
