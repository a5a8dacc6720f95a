#include <fairlead/redis/request.hpp>

#include <redis/commands.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::redis {

namespace {

/// A timeout as it stands in a command; what is none is taken for the longest, for the server will refuse it at once.
std::uint32_t milliseconds_of(std::string_view text, double unit_ms) noexcept {
    double n = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), n);
    n *= unit_ms;
    bool const is_limit = read.ec == std::errc() && n > 0 && n < request::for_ever_ms;
    return is_limit ? static_cast<std::uint32_t>(n) + 1 : request::for_ever_ms;
}

std::uint32_t wait_of(impl::timeout where, impl::arguments_of arguments) noexcept {
    if (where == impl::timeout::none || arguments.left() == 0)
        return request::for_ever_ms;
    auto text = arguments.next();
    if (where == impl::timeout::first_s)
        return milliseconds_of(text, 1000);
    if (where == impl::timeout::after_subcommand_ms)
        return milliseconds_of(arguments.left() != 0 ? arguments.next() : "", 1);
    while (arguments.left() != 0)
        text = arguments.next();
    return milliseconds_of(text, where == impl::timeout::last_s ? 1000 : 1);
}

/// The argument of the option BLOCK; keys, groups and consumers may have that name, too. 0: there is none.
std::uint32_t block_of(impl::arguments_of arguments) noexcept {
    while (arguments.left() != 0) {
        auto const word = arguments.next();
        bool const is_group = impl::equals_capitals(word, "GROUP"); // before its name and that of the consumer
        for (int names = is_group ? 2 : 0; names != 0 && arguments.left() != 0; --names)
            arguments.next();
        if (impl::equals_capitals(word, "STREAMS"))
            return 0;
        if (impl::equals_capitals(word, "BLOCK"))
            return milliseconds_of(arguments.left() != 0 ? arguments.next() : "", 1);
    }
    return 0;
}

} // namespace

void request::append(request const& other) {
    request all(*this);
    all.append_each(other);
    *this = std::move(all);
}

void request::append_each(request const& other) {
    for (std::string_view rest = other.payload_; !rest.empty();) {
        impl::arguments_of arguments(rest);
        auto const name = arguments.next();
        while (arguments.left() != 0)
            arguments.next();
        auto const start = payload_.size();
        payload_.append(rest.substr(0, rest.size() - arguments.rest().size()));
        note(start, name);
        rest = arguments.rest();
    }
}

void request::clear() noexcept {
    payload_.clear();
    commands_ = replies_ = 0;
    is_repeatable_ = false;
    if (is_ordinary_) [[likely]]
        return;
    is_ordinary_ = !is_apart_;
    parts_.clear();
    refused_ = nullptr;
    instead_ = {};
    fitness_ = is_apart_ ? fitness::alone : fitness::shared;
    transaction_ = impl::transaction::as_it_was;
    has_effects_ = pauses_ = tracks_ = changes_session_ = is_of_subscription_ = false;
    late_ms_ = 0;
    precedes_at_ = value_at_ = 0;
    value_bytes_ = 0;
    pieces_ = impl::piecewise::nothing;
}

/// A client takes what needs a connection for itself, but no subscription beside it.
bool request::is_refused_for_subscriptions() const noexcept {
    return !parts_.empty() && fitness_ <= fitness::alone && !leaves_open();
}

std::string_view request::refused() const noexcept {
    if (is_refused_for_subscriptions()) {
        auto const first = std::ranges::find_if(parts_, [](auto& p) { return p.kind != impl::confirmation::none; });
        return std::ranges::find(impl::commands, first->kind, &impl::command_info::confirmed_by)->name;
    }
    if (refused_)
        return refused_->name;
    if (leaves_open())
        return "MULTI";
    if (tracks_)
        return "CLIENT TRACKING";
    return is_apart_ && !empty() ? impl::arguments_of(payload_).next() : std::string_view();
}

std::string_view request::instead() const noexcept {
    if (is_refused_for_subscriptions())
        return impl::advice::subscription;
    if (refused_)
        return instead_;
    if (leaves_open())
        return impl::advice::one_request;
    if (tracks_)
        return impl::advice::tracking;
    return is_apart_ ? impl::advice::alone : std::string_view();
}

void request::note(std::size_t start, std::string_view name) {
    if (impl::may_be_found(name) || !parts_.empty()) [[unlikely]] {
        is_ordinary_ = false;
        return note_special(start, name);
    }
    ++commands_;
    ++replies_;
}

void request::note_special(std::size_t start, std::string_view name) {
    impl::arguments_of arguments(std::string_view(payload_).substr(start));
    arguments.next();
    auto const* known = impl::find_command(name);
    if (known && known->what == impl::role::container)
        known = arguments.left() != 0 ? impl::find_command(name, impl::arguments_of(arguments).next()) : nullptr;
    bool const is_confirmed = known && known->what == impl::role::confirmed;

    auto const before = parts_.size();
    try {
        if (is_confirmed) {
            if (parts_.empty() && replies_ != 0)
                parts_.push_back({static_cast<std::uint32_t>(replies_), impl::confirmation::none});
            // Without arguments UNSUBSCRIBE is confirmed at least once; SUBSCRIBE is answered by an error.
            auto const count = static_cast<std::uint32_t>(std::max<std::size_t>(arguments.left(), 1));
            parts_.push_back({count, known->confirmed_by});
        } else if (!parts_.empty()) {
            if (parts_.back().kind == impl::confirmation::none)
                ++parts_.back().count;
            else
                parts_.push_back({1, impl::confirmation::none});
        }
    } catch (...) {
        parts_.resize(before);
        payload_.resize(start);
        throw;
    }
    ++commands_;
    if (!is_confirmed)
        ++replies_;
    if (known)
        note_effects(*known, arguments);
}

void request::note_effects(impl::command_info const& known, impl::arguments_of arguments) noexcept {
    std::uint32_t late_ms = 0;
    switch (known.what) {
    case impl::role::opens:
    case impl::role::closes:
        if (arguments.left() != 0)
            return refuse(known, fitness::never, impl::advice::no_arguments);
        transaction_ = known.what == impl::role::opens ? impl::transaction::left_open : impl::transaction::closed;
        has_effects_ = true;
        break;
    case impl::role::confirmed:
        // Its answer would be +QUEUED, and the confirmation a push in the place of an element.
        if (leaves_open())
            return refuse(known, fitness::never, impl::advice::outside);
        break;
    case impl::role::precedes:
        precedes_at_ = commands_;
        has_effects_ = true;
        break;
    case impl::role::blocks:
    case impl::role::awaits_writes: late_ms = wait_of(known.wait, arguments); break;
    case impl::role::reads_stream: late_ms = block_of(arguments); break;
    case impl::role::pauses:
        late_ms = wait_of(known.wait, arguments);
        has_effects_ = pauses_ = true;
        break;
    case impl::role::tracks: tracks_ = true; break;
    case impl::role::marks: changes_session_ = true; break;
    case impl::role::plain:
    case impl::role::container: break;
    }
    if (!leaves_open()) // Inside a transaction nothing waits.
        late_ms_ = late_ms < for_ever_ms - late_ms_ ? late_ms_ + late_ms : for_ever_ms;
    if (known.what == impl::role::awaits_writes && commands_ > 1)
        return refuse(known, fitness::alone, impl::advice::alone); // else there would be nothing to wait for
    if (late_ms != 0 || known.what != impl::role::reads_stream)
        refuse(known, known.fit, known.instead);
}

void request::refuse(impl::command_info const& known, fitness fit, std::string_view instead) noexcept {
    changes_session_ = changes_session_ || (fit == fitness::dedicated && known.name != "WATCH");
    if (fit < fitness_ || (fit == fitness_ && (refused_ || fit == fitness::shared)))
        return;
    fitness_ = fit;
    refused_ = &known;
    instead_ = instead;
}

} // namespace fairlead::redis
