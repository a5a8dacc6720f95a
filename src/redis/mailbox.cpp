#include <fairlead/redis/mailbox.hpp>

namespace fairlead::redis::impl {

mailbox::outcome mailbox::make_room(std::uint32_t portion) noexcept {
    if (portion != 0 && (portion == portion_ || patience_ != 0)) {
        patience_ -= std::exchange(portion_, portion) != portion;
        return {0, true};
    }
    outcome all{0};
    while (count_ > 1 && (count_ > messages_max_ || bytes_ > bytes_max_)) {
        owned_block const oldest(take_first());
        first_->lost += oldest->lost + 1;
        ++all.dropped;
    }
    return all;
}

} // namespace fairlead::redis::impl
