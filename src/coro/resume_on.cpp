#include <fairlead/coro/resume_on.hpp>

#include <fairlead/operation/chain_requests.hpp>

namespace fairlead::impl::coro {

bool resume_on_awaiter::move(await_record& r) {
    if (!executor_)
        throw bad_executor();
    if (r.notes & await_record::can_be_asked)
        if (auto const refused = operation::refusal_of(r); refused != operation::refusal::none)
            return refused == operation::refusal::suspends;
    r.state = exec::await_state::idle;
    auto& root = static_cast<spawn_root&>(r); // The chain of a coroutine has no other root.
    if (*root.executor == executor_)
        return false;
    root.move_to(executor_);
    loop::resume_later(r);
    return true;
}

} // namespace fairlead::impl::coro
