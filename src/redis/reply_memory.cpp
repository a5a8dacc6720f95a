#include <fairlead/redis/reply_memory.hpp>

#include <algorithm>
#include <cstring>

namespace fairlead::redis {

error_code reply_memory::deliver(void* object, std::size_t index, reply_view const& reply) {
    return impl::deliver_value<reply_memory>(object, index, reply);
}

error_code from_reply(reply_reader& in, reply_memory& value) {
    value.state_ = reply_memory::state::none;
    value.size_ = 0;
    auto const& node = in.peek();
    if (node.kind != resp3::type::null) {
        if (!impl::holds_text(node.kind))
            return impl::not_a_value(in);
        value.size_ = std::max(node.value.size(), static_cast<std::size_t>(node.size)); // It may not have been kept.
        bool const fits = value.size_ <= value.memory_.size();
        value.state_ = fits ? reply_memory::state::whole : reply_memory::state::too_large;
        if (!fits) {
            in.advance();
            return error::memory_too_small;
        }
        bool const is_there = node.value.data() == value.memory_.data(); // It was put there as it came.
        if (value.size_ != 0 && !is_there)
            std::memcpy(value.memory_.data(), node.value.data(), value.size_);
    }
    in.advance();
    return {};
}

} // namespace fairlead::redis
