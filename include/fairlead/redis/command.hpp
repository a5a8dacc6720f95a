// One command with the type of its result, several in one request, and transactions: whatever a connection executes.
#pragma once

#include <fairlead/redis/argument.hpp>
#include <fairlead/redis/request.hpp>
#include <fairlead/redis/response.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::redis {

/// The result of SUBSCRIBE and its relatives: no reply, but a push for each channel, which async_receive gets.
struct confirmation_t {};

namespace impl {

/// A piece of a command that is about to be serialised: a text, or what a list of arguments writes.
struct part {
    void const* object;
    std::size_t size;  // of a text
    std::size_t count; // of arguments
    argument_list::append_function append;

    part(std::string_view text) noexcept : object(text.data()), size(text.size()), count(1), append(nullptr) {}
    part(char const* literal) noexcept : part(std::string_view(literal)) {}
    part(key_view const& key) noexcept : part(key.text()) {}
    part(value_view const& value) noexcept : part(value.text()) {} // its digits stay where they are
    part(argument_list const& list) noexcept : object(list.object), size(0), count(list.count), append(list.append) {}
    template <class List>
        requires requires(List const& list) {
            { list.list() } noexcept -> std::same_as<argument_list const&>;
        }
    part(List const& list) noexcept : part(list.list()) {}
};

FAIRLEAD_EXPORT request serialise(std::string_view name, std::initializer_list<part> parts);
/// The same command with other arguments in place of some, from the one at `first` on; the name is the one at 0.
FAIRLEAD_EXPORT request replaced(request const& from, std::size_t first, std::initializer_list<std::string_view> with);

struct stored_code;
/// A command among several. One of a stored script names it by its digest.
struct batch_part {
    request const* command;
    stored_code const* code; // or null
};
/// MULTI, the commands of `parts`, and EXEC. Before them each library of a function that they call is loaded, as far as
/// the server lacks it.
FAIRLEAD_EXPORT request in_transaction(batch_part const* parts, std::size_t count);
FAIRLEAD_EXPORT request in_sequence(batch_part const* parts, std::size_t count);
/// Gives the result at an index an error in place of a reply.
using fail_function = void (*)(void* response, std::size_t index, error_code const& ec);

using read_function = error_code (*)(reply_reader& in, void* value);

template <class T> error_code read_as_it_is(reply_reader& in, void* value) { return in.read(*static_cast<T*>(value)); }
/// OK, or null where the condition of the command was not met.
FAIRLEAD_EXPORT error_code read_done(reply_reader& in, void* value);
/// No list at all is an empty one.
template <class List> error_code read_list_or_null(reply_reader& in, void* value) {
    auto& list = *static_cast<List*>(value);
    if (in.peek().kind != resp3::type::null)
        return in.read(list);
    list.clear();
    in.advance();
    return {};
}

/// Whether reply_reader::read() knows T.
template <class T> consteval bool is_readable() {
    if constexpr (std::is_same_v<T, ignore_t> || user_readable<T> || std::is_same_v<T, std::string> ||
                  std::is_arithmetic_v<T>)
        return true;
    else if constexpr (is_optional<T> || is_result<T>)
        return is_readable<typename T::value_type>();
    else if constexpr (is_any_duration<T> || is_byte_array<T> || std::is_same_v<T, std::vector<std::byte>>)
        return true;
    else if constexpr (is_tuple<T>)
        return []<std::size_t... I>(std::index_sequence<I...>) {
            return (is_readable<std::tuple_element_t<I, T>>() && ...);
        }(std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (map_like<T>)
        return is_readable<typename T::key_type>() && is_readable<typename T::mapped_type>();
    else if constexpr (set_like<T>)
        return is_readable<typename T::key_type>();
    else if constexpr (sequence_like<T>)
        return is_readable<typename T::value_type>();
    else
        return false;
}

template <class T> consteval read_function usual_reader() {
    constexpr bool known = is_readable<T>();
    static_assert(known,
                  "no reply can be read into this type: write error_code from_reply(redis::reply_reader&, T&) in its "
                  "namespace, or ask for std::string, a number, or a container or an optional of them");
    if constexpr (known)
        return &read_as_it_is<T>;
    else
        return nullptr;
}

template <class Pipeline, std::size_t... I> error_code
read_nth(reply_reader& in, Pipeline& all, read_function const* read, std::size_t n, std::index_sequence<I...>) {
    error_code ec;
    (void)((n == I ? (ec = std::get<I>(all).read_from(
                          in, [&](reply_reader& reader, auto& value) { return read[I](reader, &value); }),
                      true)
                   : false) ||
           ...);
    return ec;
}

} // namespace impl

/// Space for the reply to one command: execute into it, then take the value.
template <class Result> class typed_response {
public:
    using value_type = Result;
    explicit typed_response(impl::read_function read) noexcept : read_(read) {}

    Result& value() & noexcept { return value_; }
    Result const& value() const& noexcept { return value_; }
    Result&& value() && noexcept { return std::move(value_); }

    /// For the library: how replies get into it.
    impl::response_ref refer() noexcept {
        if constexpr (std::is_same_v<Result, confirmation_t>)
            return {this, &impl::deliver_nothing, impl::response_ref::any_number};
        else
            return {this,
                    [](void* object, std::size_t, reply_view const& reply) {
                        auto& self = *static_cast<typed_response*>(object);
                        if (resp3::is_error(reply.nodes[0].kind)) [[unlikely]]
                            self.refusal_.assign(reply.nodes[0].value);
                        reply_reader in(reply);
                        return self.read_(in, &self.value_);
                    },
                    1};
    }
    /// How the server put its refusal; else empty.
    std::string const& refusal() const noexcept { return refusal_; }

private:
    Result value_{};
    std::string refusal_;
    impl::read_function read_;
};

/// One command, serialised, and the type of its result. The functions of fairlead::redis::cmd make it; whatever
/// executes a request executes it:
///
///     auto const get = redis::cmd::get<long>("visits"); // command<std::optional<long>>
///     auto visits = get.response();
///     co_await conn.async_exec(get.req(), visits);
///     show(visits.value());
///
/// Lifetime   nothing of its arguments is kept
template <class Result> class [[nodiscard]] command {
public:
    /// The type of the reply once it has been read.
    using result_type = Result;
    using response_type = typed_response<Result>;

    explicit command(request&& made, impl::read_function read = impl::usual_reader<Result>()) noexcept
        : request_(std::move(made)),
          read_(read) {}

    /// The command as a request.
    request const& req() const noexcept { return request_; }
    /// Space for its result.
    response_type response() const noexcept(std::is_nothrow_default_constructible_v<Result>) {
        return response_type(read_);
    }
    /// The most time that an execution may take: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }
    /// The same command, with its reply read into another type.
    template <class T> command<T> as() && { return command<T>(std::move(request_)); }
    template <class T> command<T> as() const& { return command<T>(request(request_)); }

    /// For the library: reads a reply into a Result.
    impl::read_function reader() const noexcept { return read_; }

private:
    request request_;
    impl::read_function read_;
};

namespace impl {

template <class Result> redis::command<Result> make(std::string_view name, std::initializer_list<part> parts,
                                                    read_function read = usual_reader<Result>()) {
    return redis::command<Result>(serialise(name, parts), read);
}

} // namespace impl

/// Any command, also of a module: `redis::make_command<long>("CF.ADD", {"filter", "item"})`.
template <class Result = ignore_t> command<Result> make_command(std::string_view name, values_view arguments) {
    return command<Result>(impl::serialise(name, {arguments}));
}

/// Space for the replies to several commands: a result of each.
template <class... Result> class pipeline_response {
public:
    using value_type = std::tuple<result<Result>...>;
    /// `before` replies come before those of the commands: libraries of functions that were loaded.
    explicit pipeline_response(std::array<impl::read_function, sizeof...(Result)> const& read, std::size_t before = 0)
        : read_(read),
          before_(before) {}

    value_type& value() & noexcept { return values_; }
    value_type const& value() const& noexcept { return values_; }
    value_type&& value() && noexcept { return std::move(values_); }

    /// For the library: how replies get into it.
    impl::response_ref refer() noexcept {
        std::apply([](auto&... each) { (each.reset(), ...); }, values_);
        return {this,
                [](void* object, std::size_t index, reply_view const& reply) {
                    auto& self = *static_cast<pipeline_response*>(object);
                    if (index < self.before_) // The calls tell whether their library is there.
                        return error_code();
                    reply_reader in(reply);
                    // One that does not fit is in its result. The others have theirs.
                    (void)impl::read_nth(in, self.values_, self.read_.data(), index - self.before_,
                                         std::index_sequence_for<Result...>());
                    return error_code();
                },
                before_ + sizeof...(Result)};
    }
    /// For the library: with the object of refer().
    static impl::fail_function fail() noexcept {
        return [](void* object, std::size_t index, error_code const& ec) {
            std::apply([&](auto&... each) { (void)((index-- == 0 ? (each.fail(ec), true) : false) || ...); },
                       static_cast<pipeline_response*>(object)->values_);
        };
    }

private:
    value_type values_;
    std::array<impl::read_function, sizeof...(Result)> read_;
    std::size_t before_;
};

namespace impl {

/// A single command, which a pipeline or a transaction may have.
template <class T>
concept batchable = requires(T const& each) {
    typename T::result_type;
    { each.req() } noexcept -> std::same_as<request const&>;
    { each.reader() } noexcept -> std::same_as<read_function>;
};
template <batchable Command> batch_part part_of_batch(Command const& c) noexcept {
    if constexpr (requires { c.code(); })
        return {&c.req(), c.code().get()};
    else
        return {&c.req(), nullptr};
}

} // namespace impl

/// Several commands in one request, and a result of each.
template <class... Result> class [[nodiscard]] commands {
public:
    using result_type = std::tuple<result<Result>...>;
    using response_type = pipeline_response<Result...>;

    template <impl::batchable... Command>
        requires(sizeof...(Command) == sizeof...(Result))
    explicit commands(Command const&... each) : read_{each.reader()...} {
        impl::batch_part const parts[] = {impl::part_of_batch(each)...};
        request_ = impl::in_sequence(parts, sizeof...(Result));
    }
    request const& req() const noexcept { return request_; }
    response_type response() const { return response_type(read_, request_.expected_replies() - sizeof...(Result)); }
    /// The most time that an execution may take: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }

private:
    std::array<impl::read_function, sizeof...(Result)> read_;
    request request_;
};

/// The outcome of a transaction: the results of its commands, or nothing, when a watched key had changed and the server
/// executed none of them. A refused transaction is an error of its execution, not this; the command that the server did
/// not take then has its text.
template <class... Result> class transaction_result {
public:
    using values_type = std::tuple<result<Result>...>;

    /// The commands were executed; each has its own result, which may be a refusal.
    bool has_value() const noexcept { return is_executed_; }
    explicit operator bool() const noexcept { return is_executed_; }
    /// Throws system_error with error::no_reply when nothing was executed.
    values_type& value() {
        if (!is_executed_)
            impl::throw_no_value(error::no_reply, {});
        return values_;
    }
    values_type& operator*() noexcept { return values_; }
    values_type const& operator*() const noexcept { return values_; }
    values_type* operator->() noexcept { return &values_; }
    values_type const* operator->() const noexcept { return &values_; }

    /// For the library: prepares for the replies of another execution.
    void reset() noexcept {
        is_executed_ = false;
        std::apply([](auto&... each) { (each.reset(), ...); }, values_);
    }
    /// For the library: one of the replies to MULTI, the commands, and EXEC.
    error_code read_from(reply_reader& in, std::size_t index, impl::read_function const* read);

private:
    values_type values_;
    bool is_executed_ = false;
};

/// Space for the replies to a transaction.
template <class... Result> class transaction_response {
public:
    using value_type = transaction_result<Result...>;
    /// `before` as of a pipeline_response.
    explicit transaction_response(std::array<impl::read_function, sizeof...(Result)> const& read,
                                  std::size_t before = 0)
        : read_(read),
          before_(before) {}

    value_type& value() & noexcept { return value_; }
    value_type const& value() const& noexcept { return value_; }
    value_type&& value() && noexcept { return std::move(value_); }

    /// For the library: how replies get into it.
    impl::response_ref refer() noexcept {
        value_.reset();
        return {this,
                [](void* object, std::size_t index, reply_view const& reply) {
                    auto& self = *static_cast<transaction_response*>(object);
                    if (index < self.before_)
                        return error_code();
                    reply_reader in(reply);
                    return self.value_.read_from(in, index - self.before_, self.read_.data());
                },
                before_ + sizeof...(Result) + 2};
    }

private:
    value_type value_;
    std::array<impl::read_function, sizeof...(Result)> read_;
    std::size_t before_;
};

/// MULTI, several commands, and EXEC, in one request.
template <class... Result> class [[nodiscard]] transaction_of {
public:
    using result_type = transaction_result<Result...>;
    using response_type = transaction_response<Result...>;

    template <impl::batchable... Command>
        requires(sizeof...(Command) == sizeof...(Result))
    explicit transaction_of(Command const&... each) : read_{each.reader()...} {
        impl::batch_part const parts[] = {impl::part_of_batch(each)...};
        request_ = impl::in_transaction(parts, sizeof...(Result));
    }
    request const& req() const noexcept { return request_; }
    response_type response() const { return response_type(read_, request_.expected_replies() - sizeof...(Result) - 2); }
    /// The most time that an execution may take: request::set_timeout().
    void set_timeout(std::chrono::milliseconds t) noexcept { request_.set_timeout(t); }
    /// To execute it twice does no more than to execute it once: request::set_repeatable().
    void set_repeatable(bool is_repeatable = true) noexcept { request_.set_repeatable(is_repeatable); }

private:
    std::array<impl::read_function, sizeof...(Result)> read_;
    request request_;
};

/// Something with a request and space for its results: a command, several of them, or a transaction.
template <class T>
concept typed_command = requires(T const& each) {
    typename T::result_type;
    typename T::response_type;
    { each.req() } noexcept -> std::same_as<request const&>;
    { each.response() } -> std::same_as<typename T::response_type>;
};

namespace impl {

template <class... Result> consteval bool answer_by_replies() {
    return (!std::is_same_v<Result, confirmation_t> && ...);
}

} // namespace impl

/// Several commands, sent together and answered one by one: `pipeline(cmd::incr("hits"), cmd::get("name"))`. The result
/// of each is a result<T>: a refusal of one leaves the others alone.
template <impl::batchable... Command>
    requires(sizeof...(Command) > 0 && impl::answer_by_replies<typename Command::result_type...>())
commands<typename Command::result_type...> pipeline(Command const&... each) {
    return commands<typename Command::result_type...>(each...);
}
template <impl::batchable... Command>
    requires(!impl::answer_by_replies<typename Command::result_type...>())
FAIRLEAD_REFUSED("a subscription is confirmed by pushes, not by a reply: execute it by itself")
commands<typename Command::result_type...> pipeline(Command const&... each);

/// Several commands, executed all together or not at all: MULTI, the commands, and EXEC in one request, which any
/// connection takes. The result is a transaction_result.
template <impl::batchable... Command>
    requires(sizeof...(Command) > 0 && impl::answer_by_replies<typename Command::result_type...>())
transaction_of<typename Command::result_type...> transaction(Command const&... each) {
    return transaction_of<typename Command::result_type...>(each...);
}
template <impl::batchable... Command>
    requires(!impl::answer_by_replies<typename Command::result_type...>())
FAIRLEAD_REFUSED("a subscription is no part of a transaction: execute it by itself")
transaction_of<typename Command::result_type...> transaction(Command const&... each);

template <class... Result> error_code transaction_result<Result...>::read_from(reply_reader& in, std::size_t index,
                                                                               impl::read_function const* read) {
    constexpr auto all = std::index_sequence_for<Result...>();
    bool const is_refusal = resp3::is_error(in.peek().kind);
    if (index >= 1 && index <= sizeof...(Result) && is_refusal) {
        error const why = impl::refusal_of(in.peek().value);
        (void)impl::read_nth(in, values_, read, index - 1, all); // Keeps the text.
        return why;
    }
    if (is_refusal)
        return impl::refusal_of(in.peek().value);
    if (index != sizeof...(Result) + 1 || in.peek().kind == resp3::type::null)
        return {};
    error_code ec;
    if (impl::enter_sequence(in, ec) != sizeof...(Result) && !ec)
        ec = error::incompatible_type;
    if (ec)
        return ec;
    is_executed_ = true;
    for (std::size_t i = 0; i != sizeof...(Result); ++i) {
        reply_reader each = in;
        // As in a pipeline.
        (void)impl::read_nth(each, values_, read, i, all);
        in.skip(); // from its beginning: reading may have ended in the middle
    }
    return {};
}

} // namespace fairlead::redis
