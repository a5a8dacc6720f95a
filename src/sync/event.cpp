#include <fairlead/sync/event.hpp>

namespace fairlead::impl::sync {

event_core::~event_core() { cancel(); }

bool event_core::is_set() const noexcept {
    return domain().look([this] { return is_set_; });
}

void event_core::set() noexcept {
    domain().change([this](op_queue& ready) {
        is_set_ = true;
        let_go(ready);
    });
}

void event_core::reset() noexcept {
    domain().change([this](op_queue&) { is_set_ = false; });
}

void event_core::wait(wait_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        if (is_set_) {
            o.result = {0, 0, 0};
            ready.push_back(o);
        } else {
            domain().append(*this, o);
        }
    });
}

void event_core::let_go(op_queue& ready) noexcept {
    while (is_set_ && !empty())
        domain().let_first_go(*this, ready);
}

} // namespace fairlead::impl::sync
