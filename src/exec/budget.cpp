#include <fairlead/exec/budget.hpp>

namespace fairlead::impl::exec {

void budget::grant_more(std::int64_t now) noexcept {
    bool const is_first_look = granted <= first || granted == 1;
    int more = is_first_look ? granted : 2 * last;
    if (more > fairness::units_most - granted)
        more = fairness::units_most - granted;
    if (!is_first_look) {
        while (more > 1 && more * (now - looked_ns) > last * (slice_end_ns - now))
            more /= 2;
        if (now - looked_ns <= last * fairness::quick_unit_ns)
            quick = fairness::quick_items;
    }
    granted += more;
    units = more - 1;
    last = more;
    looked_ns = now;
}

bool budget::grant_first() noexcept {
    if (first != 0 || granted != 1)
        return false;
    units = 0;
    granted = 2;
    last = 1;
    return true;
}

} // namespace fairlead::impl::exec
