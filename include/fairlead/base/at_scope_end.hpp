// Something that is done when a block is left, by an exception too.
#pragma once

namespace fairlead::impl::base {

/// Calls f() when it goes.
template <class F> class [[nodiscard]] at_scope_end {
public:
    explicit at_scope_end(F const& f) noexcept : f_(f) {}
    at_scope_end(at_scope_end const&) = delete;
    ~at_scope_end() { f_(); }

private:
    F f_;
};

} // namespace fairlead::impl::base
