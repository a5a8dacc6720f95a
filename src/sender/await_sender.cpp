#include <fairlead/sender/await_sender.hpp>

namespace fairlead::impl::sender {

awaited_sender::awaited_sender(await_record& r) noexcept : record_(r), listens_(r.notes & await_record::can_be_asked) {
    run = &request_stop;
    cancel = nullptr;
}

bool awaited_sender::begins(bool& suspended) {
    record_.state = exec::await_state::idle;
    if (!listens_)
        return true;
    if (auto const refused = operation::refusal_of(record_); refused != operation::refusal::none) {
        suspended = refused == operation::refusal::suspends;
        return false;
    }
    operation::requests_of(record_).state.await_begins({&ask, this, &record_});
    return true;
}

bool awaited_sender::suspends() noexcept {
    if (listens_) // The start is a use: the coroutine is still here.
        operation::requests_of(record_).state.await_has_begun(!(record_.notes & await_record::goes_on));
    if (!is_last_use())
        return true;
    if (!goes_on())
        return true;
    if (operation::spend_for(record_))
        return false;
    loop::resume_later(record_);
    return true;
}

void awaited_sender::sender_has_ended() noexcept {
    if (listens_)
        operation::requests_of(record_).state.await_has_ended(); // Nobody asks from here on.
    if (is_last_use())
        resume();
}

bool awaited_sender::goes_on() noexcept {
    if (!listens_)
        return true;
    if (operation::is_to_be_destroyed(record_)) {
        record_.hooks->abandon(&record_);
        return false;
    }
    exec::heed_requests(record_);
    return true;
}

void awaited_sender::resume() noexcept {
    if (goes_on())
        operation::finish_await(record_);
}

/// Under the lock of the requests.
void awaited_sender::ask(void* storage, await_record& r, cancellation_type) noexcept {
    auto& self = *static_cast<awaited_sender*>(storage);
    if (std::exchange(self.is_asked_, true))
        return;
    self.uses_.fetch_add(1, std::memory_order_relaxed);
    r.home->resume_soon(self);
}

void awaited_sender::request_stop(op* o, op_mode mode) {
    auto& self = *static_cast<awaited_sender*>(o);
    if (mode == op_mode::complete)
        self.stop_.request_stop();
    if (self.is_last_use())
        self.resume();
}

} // namespace fairlead::impl::sender
