#include <fairlead/redis/command.hpp>

#include <charconv>

namespace fairlead::redis {

namespace {

template <class T> unsigned char digits_of(char (&digits)[47], T number) noexcept {
    return static_cast<unsigned char>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits);
}

} // namespace

void value_view::write(std::int64_t number) noexcept { size_ = digits_of(digits_, number); }
void value_view::write(std::uint64_t number) noexcept { size_ = digits_of(digits_, number); }
void value_view::write(float number) noexcept { size_ = digits_of(digits_, number); }
void value_view::write(double number) noexcept { size_ = digits_of(digits_, number); }
void value_view::write(long double number) noexcept { size_ = digits_of(digits_, number); }

namespace impl {

struct request_access {
    static request made_of(std::string&& payload, std::string_view name) {
        request made;
        made.payload_ = std::move(payload);
        made.note(0, name);
        return made;
    }
    static void append_all(request& to, request const* const* parts, std::size_t count) {
        std::size_t bytes = to.payload_.size();
        for (auto const* part : std::span(parts, count))
            bytes += part->payload_.size();
        to.reserve(bytes + 32); // and EXEC
        for (auto const* part : std::span(parts, count))
            to.append_each(*part);
    }
};

request serialise(std::string_view name, std::initializer_list<part> parts) {
    constexpr std::size_t head_bytes = 16; // of a command or an argument, and its end
    std::size_t arguments = 1;
    std::size_t bytes = head_bytes + name.size();
    for (auto const& each : parts) {
        arguments += each.count;
        bytes += each.count * head_bytes + each.size;
    }
    std::string payload;
    payload.reserve(head_bytes + bytes);
    resp3::append_command_header(payload, arguments);
    resp3::append_argument(payload, name);
    for (auto const& each : parts) {
        if (each.append)
            each.append(payload, each.object, each.count);
        else if (each.count != 0)
            resp3::append_argument(payload, std::string_view(static_cast<char const*>(each.object), each.size));
    }
    return request_access::made_of(std::move(payload), name);
}

request in_sequence(request const* const* parts, std::size_t count) {
    request all;
    request_access::append_all(all, parts, count);
    return all;
}

request in_transaction(request const* const* parts, std::size_t count) {
    request all;
    all.push("MULTI");
    request_access::append_all(all, parts, count);
    all.push("EXEC");
    return all;
}

error_code read_done(reply_reader& in, void* value) {
    auto& done = *static_cast<bool*>(value);
    done = in.peek().kind != resp3::type::null;
    if (!done || in.peek().kind == resp3::type::simple_string) {
        in.advance();
        return {};
    }
    return not_a_value(in);
}

} // namespace impl
} // namespace fairlead::redis
