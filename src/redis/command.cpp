#include <fairlead/redis/command.hpp>

#include <fairlead/redis/script.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <redis/commands.hpp>
#include <redis/value_pieces.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <vector>

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
namespace {

/// The scripts that the server has behind the commands of a batch so far.
class known_scripts {
public:
    /// Whether the command needs no source: it is none of a script, or that has come before.
    bool include(batch_part const& part) {
        if (!part.code || part.code->is_library) {
            if (equals_capitals(arguments_of(part.command->payload()).next(), "SCRIPT")) // perhaps FLUSH
                seen_.clear();
            return true;
        }
        for (auto const* each : seen_)
            if (each->sha1 == part.code->sha1)
                return true;
        seen_.push_back(part.code);
        return false;
    }

private:
    std::vector<stored_code const*> seen_;
};

} // namespace

struct request_access {
    static request made_of(command_text&& payload, std::string_view name) {
        request made;
        made.payload_ = std::move(payload);
        made.note(0, name);
        return made;
    }
    static request for_piece(piecewise kind) {
        request r;
        r.push("PING"); // never sent
        r.set_apart();
        r.pieces_ = kind;
        return r;
    }
    static request with_reply_in_pieces(request const& from) {
        request r(from);
        r.set_apart();
        r.pieces_ = piecewise::reply;
        return r;
    }
    static request with_argument_in_pieces(request const& from, std::string_view marker, std::uint64_t bytes) {
        request r;
        arguments_of words(from.payload());
        append_command_header(r.payload_, words.left());
        std::string_view name;
        std::size_t places = 0;
        for (bool is_name = true; words.left() != 0; is_name = false) {
            auto const text = words.next();
            if (is_name)
                name = text;
            if (text != marker) {
                append_argument(r.payload_, text);
                continue;
            }
            ++places;
            append_bulk_header(r.payload_, bytes);
            r.value_at_ = r.payload_.size();
            r.payload_.append("\r\n", 2);
        }
        if (places != 1 || from.commands() != 1 || from.has_subscriptions())
            throw std::invalid_argument("redis: one command with redis::in_pieces in the place of one argument");
        if (from.is_repeatable())
            throw std::invalid_argument("redis: an argument in pieces is not kept, so it cannot be sent anew");
        r.note(0, name);
        r.set_timeout(from.timeout());
        r.set_apart();
        r.pieces_ = piecewise::argument;
        r.value_bytes_ = bytes;
        return r;
    }
    /// FUNCTION LOAD of each library, without REPLACE: where there is one of the name, nothing changes.
    static void append_libraries(request& to, batch_part const* parts, std::size_t count) {
        std::vector<stored_code const*> seen;
        for (auto const& part : std::span(parts, count)) {
            if (!part.code || !part.code->is_library)
                continue;
            bool const is_new = std::none_of(seen.begin(), seen.end(), [&](stored_code const* each) {
                return each == part.code || each->source == part.code->source;
            });
            if (!is_new)
                continue;
            seen.push_back(part.code);
            to.push("FUNCTION", "LOAD", part.code->source);
        }
    }
    static void append_all(request& to, batch_part const* parts, std::size_t count) {
        std::size_t bytes = to.payload_.size();
        for (auto const& part : std::span(parts, count))
            bytes += part.command->payload_.size();
        to.reserve(bytes + 32); // and EXEC
        known_scripts known;
        for (auto const& part : std::span(parts, count)) {
            if (known.include(part))
                to.append_each(*part.command);
            else
                to.append_each(with_source(*part.command, *part.code));
        }
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
    command_text payload;
    payload.reserve(head_bytes + bytes);
    append_command_header(payload, arguments);
    append_argument(payload, name);
    for (auto const& each : parts) {
        if (each.append)
            each.append(payload, each.object, each.count);
        else if (each.count != 0)
            append_argument(payload, std::string_view(static_cast<char const*>(each.object), each.size));
    }
    return request_access::made_of(std::move(payload), name);
}

request replaced(request const& from, std::size_t first, std::initializer_list<std::string_view> with) {
    arguments_of words(from.payload());
    command_text payload;
    std::size_t bytes = from.payload().size();
    for (auto const text : with)
        bytes += text.size();
    payload.reserve(bytes + 32 * with.size());
    append_command_header(payload, words.left());
    auto const* other = with.begin();
    std::string_view name;
    for (std::size_t i = 0; words.left() != 0; ++i) {
        auto text = words.next();
        if (i >= first && other != with.end())
            text = *other++;
        if (i == 0)
            name = text;
        append_argument(payload, text);
    }
    return request_access::made_of(std::move(payload), name);
}

request with_reply_in_pieces(request const& from) { return request_access::with_reply_in_pieces(from); }
request with_argument_in_pieces(request const& from, std::string_view marker, std::uint64_t bytes) {
    return request_access::with_argument_in_pieces(from, marker, bytes);
}
request const& request_for_piece(piecewise kind) {
    static request const in = request_access::for_piece(piecewise::next_in);
    static request const out = request_access::for_piece(piecewise::next_out);
    return kind == piecewise::next_in ? in : out;
}

request in_sequence(batch_part const* parts, std::size_t count) {
    request all;
    request_access::append_libraries(all, parts, count);
    request_access::append_all(all, parts, count);
    return all;
}

request in_transaction(batch_part const* parts, std::size_t count) {
    request all;
    request_access::append_libraries(all, parts, count);
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
