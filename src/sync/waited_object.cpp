#include <fairlead/sync/waited_object.hpp>

namespace fairlead::impl::sync {

std::size_t waited_object::cancel() noexcept {
    if (domain().is_done_without_lock([this]() noexcept { return empty(); }))
        return 0;
    std::size_t n = 0;
    domain().change([&](op_queue& ready) noexcept { n = domain().cancel_all(*this, ready); });
    return n;
}

} // namespace fairlead::impl::sync
