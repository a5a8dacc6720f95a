// Structs as hashes: a description of the members, once, and HSET, HGETALL and HMGET take the struct.
#pragma once

#include <fairlead/redis/argument.hpp>
#include <fairlead/redis/response.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

namespace impl {

struct no_default {};

/// The name of a field of a hash, and the member of Class that it is read into and written from.
template <class Class, class T, class Default> struct described_field {
    using type = T;
    std::string_view name;
    T Class::* member;
    Default otherwise; ///< what the member becomes without such a field
};

} // namespace impl

/// A member for described<T>::members. A hash without the field is an error then, unless the member is a std::optional.
template <class Class, class T> constexpr auto field(std::string_view name, T Class::* member) noexcept {
    return impl::described_field<Class, T, impl::no_default>{name, member, {}};
}
/// A member that becomes `otherwise` when a hash does not have the field.
template <class Class, class T, class Default>
constexpr auto field(std::string_view name, T Class::* member, Default otherwise) {
    return impl::described_field<Class, T, Default>{name, member, std::move(otherwise)};
}

namespace impl {

template <class T> inline constexpr bool is_optional_described = false;
template <described_type T> inline constexpr bool is_optional_described<std::optional<T>> = true;

template <class T>
concept user_writable = requires(T const& value) { to_argument(value); };

template <class T> inline constexpr std::size_t fields_of = std::tuple_size_v<decltype(redis::described<T>::members)>;

/// Calls `f` with each field of T, in their order.
template <class T, class F> constexpr void for_each_field(F&& f) {
    std::apply([&](auto const&... each) { (f(each), ...); }, redis::described<T>::members);
}

// ---- writing

template <class T> void append_member(command_text& out, T const& value) {
    if constexpr (is_optional<T>) {
        append_member(out, *value);
    } else if constexpr (user_writable<T>) {
        append_member(out, to_argument(value));
    } else if constexpr (std::is_same_v<T, bool>) {
        append_argument(out, std::string_view(value ? "1" : "0"));
    } else if constexpr (is_any_duration<T>) {
        append_argument(out, value_view(value.count()).text());
    } else {
        constexpr bool known = element_like<T>;
        static_assert(known, "no field can be made of this member: write to_argument(T const&) in its namespace, which "
                             "returns text, a number or a bool, or make it text, a number, a bool, a duration, bytes, "
                             "or an optional of them");
        if constexpr (known)
            append_argument(out, value_view(value).text());
    }
}

template <class T, class Field> bool is_left_out(T const& object, Field const& f) noexcept {
    if constexpr (is_optional<typename Field::type>)
        return !(object.*(f.member)).has_value();
    else
        return false;
}
template <described_type T> std::size_t count_described(T const& object) {
    std::size_t n = 0;
    for_each_field<T>([&](auto const& f) { n += is_left_out(object, f) ? 0 : 1; });
    return n;
}
template <described_type T> void append_described(command_text& out, void const* object, std::size_t) {
    auto const& value = *static_cast<T const*>(object);
    for_each_field<T>([&](auto const& f) {
        if (is_left_out(value, f))
            return;
        append_argument(out, f.name);
        append_member(out, value.*(f.member));
    });
}
template <described_type T> void append_field_names(command_text& out, void const*, std::size_t) {
    for_each_field<T>([&](auto const& f) { append_argument(out, f.name); });
}
template <described_type T> std::size_t count_field_names() noexcept { return fields_of<T>; }

// ---- reading

template <class T> error_code read_member(reply_reader& in, T& value) {
    if constexpr (user_readable<T>) {
        return in.read(value);
    } else if constexpr (is_optional<T>) {
        return read_member(in, value ? *value : value.emplace());
    } else {
        return in.read(value);
    }
}

/// The field is not there, or null.
template <class T, class Field> error_code read_nothing(T& object, Field const& f) {
    auto& member = object.*(f.member);
    if constexpr (!std::is_same_v<decltype(f.otherwise), no_default>) {
        member = f.otherwise;
        return {};
    } else if constexpr (is_optional<typename Field::type>) {
        member.reset();
        return {};
    } else {
        return error::missing_field;
    }
}

template <class T> using fields_seen = std::array<bool, fields_of<T>>;
template <described_type T> error_code read_named(reply_reader& in, T& object, fields_seen<T>& seen) {
    if (!holds_text(in.peek().kind))
        return error::incompatible_type;
    auto const name = in.peek().value;
    in.advance();
    error_code ec;
    bool is_known = false;
    std::size_t i = 0;
    for_each_field<T>([&](auto const& f) {
        if (!is_known && f.name == name) {
            is_known = true;
            if (in.peek().kind != resp3::type::null) {
                seen[i] = true;
                ec = read_member(in, object.*(f.member));
            } else {
                in.advance();
            }
        }
        ++i;
    });
    if (!is_known)
        in.skip();
    return ec;
}
template <described_type T> error_code read_rest(T& object, fields_seen<T> const& seen) {
    error_code ec;
    std::size_t i = 0;
    for_each_field<T>([&](auto const& f) {
        if (!seen[i++] && !ec)
            ec = read_nothing(object, f);
    });
    return ec;
}
/// The values of all fields in their order, as HMGET gives them: null where there is none. `found` says how many.
template <described_type T> error_code read_values(reply_reader& in, T& object, std::size_t& found) {
    error_code ec;
    if (enter_sequence(in, ec) != fields_of<T> && !ec)
        ec = error::incompatible_type;
    error_code missing;
    for_each_field<T>([&](auto const& f) {
        if (ec)
            return;
        if (in.peek().kind != resp3::type::null) {
            ++found;
            ec = read_member(in, object.*(f.member));
        } else {
            in.advance();
            auto const lacks = read_nothing(object, f);
            missing = missing ? missing : lacks;
        }
    });
    return ec ? ec : found != 0 ? missing : error_code();
}
template <described_type T> error_code read_row(reply_reader& in, void* value) {
    auto& row = *static_cast<std::optional<T>*>(value);
    std::size_t found = 0;
    auto const ec = read_values(in, row.emplace(), found);
    if (ec || found == 0)
        row.reset();
    return ec;
}

} // namespace impl

/// Reads a hash into a described struct: fields by their names. Those that it does not describe are passed over.
///
///     template <> struct fairlead::redis::described<shop::user> {
///         static constexpr auto members = std::tuple(field("name", &shop::user::name), field("age", &shop::user::age, 0));
///     };
///
///     co_await db.hset("user:1", ann);                          // a field for each member; none for an empty optional
///     auto ann = co_await db.hgetall<shop::user>("user:1");     // or hgetall<std::optional<shop::user>>
///     auto bob = co_await db.hmget<shop::user>("user:2");       // these fields alone, or nothing
///
/// A member is text, a number, a bool ("1", "0"), a duration (its count), or an optional of these. Bytes are a
/// std::vector<std::byte> or an array of them. Types of your own, enumerations too, have `from_reply` and
/// `to_argument`.
/// Errors     error::missing_field      a field is missing, its member is no optional and has no default
///            error::incompatible_type, what conversions report
template <impl::described_type T> error_code from_reply(reply_reader& in, T& value) {
    error_code ec;
    impl::fields_seen<T> seen{};
    auto const pairs = impl::enter_map(in, ec);
    for (std::size_t i = 0; i != pairs && !ec; ++i)
        ec = impl::read_named(in, value, seen);
    return ec ? ec : impl::read_rest(value, seen);
}
/// As above, and into nothing when there is no hash: null, or no field at all.
template <impl::described_type T> error_code from_reply(reply_reader& in, std::optional<T>& value) {
    if (in.peek().kind == resp3::type::null || (resp3::is_aggregate(in.peek().kind) && in.peek().size == 0)) {
        value.reset();
        in.skip();
        return {};
    }
    return from_reply(in, value ? *value : value.emplace());
}

} // namespace fairlead::redis
