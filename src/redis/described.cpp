#include <fairlead/redis/described.hpp>

namespace fairlead::redis::impl {

error_code read_bytes(reply_reader& in, std::byte* into, std::size_t size) {
    if (!holds_text(in.peek().kind))
        return not_a_value(in);
    auto const text = in.peek().value;
    if (text.size() != size)
        return error::incompatible_type;
    if (size != 0)
        std::memcpy(into, text.data(), size);
    in.advance();
    return {};
}

error_code read_bytes(reply_reader& in, std::vector<std::byte>& into) {
    if (!holds_text(in.peek().kind))
        return not_a_value(in);
    auto const* const bytes = reinterpret_cast<std::byte const*>(in.peek().value.data());
    into.assign(bytes, bytes + in.peek().value.size());
    in.advance();
    return {};
}

} // namespace fairlead::redis::impl
