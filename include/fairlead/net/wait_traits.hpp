// When programs of Asio look at a clock again.
#pragma once

#include <fairlead/base/saturated_sum.hpp>

namespace fairlead {

/// How long a timer of `Clock` sleeps before it looks at the clock again. Asio asks this; here it is a name for
/// programs that pass it on: the deadline is put onto the loop's clock.
template <class Clock> struct wait_traits {
    static typename Clock::duration to_wait_duration(typename Clock::duration const& d) { return d; }
    /// Saturates.
    static typename Clock::duration to_wait_duration(typename Clock::time_point const& t) {
        return impl::base::difference(t.time_since_epoch(), Clock::now().time_since_epoch());
    }
};

} // namespace fairlead
