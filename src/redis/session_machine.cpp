#include <redis/session_machine.hpp>

namespace fairlead::redis::impl {

session_machine::admission session_machine::begin() noexcept {
    if (is_closed())
        return admission::closed;
    if (phase_ != phase::idle)
        return admission::already_running;
    phase_ = phase::connecting;
    return admission::begun;
}

void session_machine::greeting_sent() noexcept {
    FAIRLEAD_ASSERT(phase_ == phase::greeting || phase_ == phase::greeted);
    FAIRLEAD_ASSERT(may_write());
    phase_ = phase::greeting;
}

void session_machine::opened() noexcept {
    change(phase::greeted, phase::ready);
    question_ = question::none;
}

bool session_machine::end() noexcept {
    FAIRLEAD_ASSERT(is_under_way());
    phase_ = phase::ending;
    return writing_ != writing::under_way;
}

bool session_machine::over() noexcept {
    FAIRLEAD_ASSERT(writing_ != writing::under_way);
    change(phase::ending, phase::idle);
    bool const had_failed = writing_ == writing::failed;
    writing_ = writing::possible;
    return had_failed;
}

session_machine::next session_machine::wrote(bool is_good) noexcept {
    FAIRLEAD_ASSERT(writing_ == writing::under_way);
    writing_ = is_good ? writing::possible : writing::failed;
    switch (phase_) {
    case phase::ending: return next::finish;
    case phase::ready: return is_good ? next::write : next::nothing;
    case phase::greeted: return is_good ? next::greet : next::nothing;
    default: return next::nothing;
    }
}

session_machine::change_of_work session_machine::count(bool has_pending) noexcept {
    auto const counts = phase_ == phase::idle && has_pending ? work::counted : work::none;
    if (std::exchange(work_, counts) == counts)
        return change_of_work::none;
    return counts == work::counted ? change_of_work::begins : change_of_work::ends;
}

} // namespace fairlead::redis::impl
