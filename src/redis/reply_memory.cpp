#include <fairlead/redis/reply_memory.hpp>

#include <cstring>

namespace fairlead::redis {

error_code from_reply(reply_reader& in, reply_memory& value) {
    value.state_ = reply_memory::state::none;
    value.size_ = 0;
    auto const& node = in.peek();
    if (node.kind != resp3::type::null) {
        if (!impl::holds_text(node.kind))
            return impl::not_a_value(in);
        value.size_ = node.value.size();
        bool const fits = value.size_ <= value.memory_.size();
        value.state_ = fits ? reply_memory::state::whole : reply_memory::state::too_large;
        if (!fits) {
            in.advance();
            return error::memory_too_small;
        }
        if (value.size_ != 0)
            std::memcpy(value.memory_.data(), node.value.data(), value.size_);
    }
    in.advance();
    return {};
}

} // namespace fairlead::redis
