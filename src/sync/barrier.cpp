#include <fairlead/sync/barrier.hpp>

namespace fairlead::impl::sync {

barrier_core::~barrier_core() { cancel(); }

std::size_t barrier_core::expected() const noexcept {
    return domain().look([this] { return expected_; });
}

std::size_t barrier_core::arrived() const noexcept {
    return domain().look([this] { return size(); });
}

void barrier_core::drop_one() noexcept {
    domain().change([this](op_queue& ready) {
        FAIRLEAD_ASSERT(expected_ != 0);
        --expected_;
        let_go(ready);
    });
}

bool barrier_core::try_wait() noexcept {
    bool is_last = false;
    domain().change([&](op_queue& ready) {
        is_last = size() + 1 >= expected_;
        if (is_last)
            let_all_go(ready);
    });
    return is_last;
}

void barrier_core::wait(wait_op& o) noexcept {
    domain().change([&](op_queue& ready) {
        domain().append(*this, o);
        let_go(ready);
    });
}

void barrier_core::let_all_go(op_queue& ready) noexcept {
    while (!empty())
        domain().let_first_go(*this, ready);
}

void barrier_core::let_go(op_queue& ready) noexcept {
    if (size() >= expected_)
        let_all_go(ready);
}

} // namespace fairlead::impl::sync
