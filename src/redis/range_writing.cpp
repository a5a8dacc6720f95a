#include <redis/range_writing.hpp>

#include <fairlead/coro/coro.hpp>
#include <fairlead/redis/typed_call.hpp>

#include <algorithm>
#include <charconv>
#include <span>
#include <stdexcept>
#include <utility>

namespace fairlead::redis::impl {

std::string name_beside(std::string_view key, std::int64_t number) {
    auto const open = key.find('{');
    auto const close = open == key.npos ? key.npos : key.find('}', open);
    bool const has_tag = close != key.npos && close != open + 1;
    bool const can_be_tag = !has_tag && !key.empty() && key.find('}') == key.npos;
    char digits[20];
    auto const end = std::to_chars(std::begin(digits), std::end(digits), number, 36).ptr;
    std::string name;
    name.append(can_be_tag ? "{" : "").append(key).append(can_be_tag ? "}" : "");
    return name.append(":being-written:").append(std::begin(digits), end);
}

range_writing::range_writing(connection_core& c, std::string_view key, std::string_view value,
                             writing_options const& how)
    : core_(c),
      key_(key),
      value_(value),
      how_(how) {
    request_.set_timeout(how.timeout);
}

awaitable<range_writing::outcome> range_writing::write(std::string_view beside) {
    return value_.size() <= how_.range ? write_at_once() : write_ranges(beside);
}

awaitable<range_writing::outcome> range_writing::write_at_once() {
    clear_request();
    auto const expiry_ms = std::to_string(how_.expiry.after().count());
    std::array<std::string_view, 4> words{value_};
    std::size_t count = 1;
    if (how_.expiry.keeps()) {
        words[count++] = "KEEPTTL";
    } else if (how_.expiry.after().count() != 0) {
        words[count++] = "PX";
        words[count++] = expiry_ms;
    }
    if (how_.condition)
        words[count++] = how_.condition.is_nx() ? "NX" : "XX";
    request_.push_range("SET", key_, std::span(words).first(count));
    expected_[replies_++] = reply_kind::outcome;
    is_in_place_ = true;
    auto executing = execute_request();
    auto const ec = co_await std::move(executing);
    if (ec)
        co_return end_with(ec, outcome::failed, ec.ending);
    co_return is_null_ ? outcome::unmet : outcome::done;
}

/// So that no bytes are sent for nothing. It does not hold until the end.
awaitable<range_writing::outcome> range_writing::look_at_condition() {
    clear_request();
    ask(reply_kind::number, "EXISTS", key_);
    auto executing = execute_request();
    auto const ec = co_await std::move(executing);
    if (ec)
        co_return end_unwritten(ec);
    bool const is_there = number_ != 0;
    co_return is_there == how_.condition.is_xx() ? outcome::done : outcome::unmet;
}

/// Each request gives the key beside the time anew, so that it ends with its writer.
awaitable<range_writing::outcome> range_writing::write_ranges(std::string_view beside) {
    auto const kept_ms = std::chrono::milliseconds(how_.kept).count();
    if (how_.condition) {
        auto looking = look_at_condition();
        auto const how = co_await std::move(looking);
        if (how != outcome::done)
            co_return how;
    }
    for (std::size_t written = 0; written != value_.size();) {
        auto const range = value_.substr(written, how_.range);
        clear_request();
        if (written == 0) {
            ask(reply_kind::outcome, "SET", beside, range, "NX", "PX", kept_ms);
        } else {
            ask(reply_kind::number, "APPEND", beside, range);
            ask(reply_kind::done, "PEXPIRE", beside, kept_ms);
        }
        auto executing = execute_request();
        auto const ec = co_await std::move(executing);
        if (ec) {
            auto const how = end_unwritten(ec);
            if (ec == condition::refused_by_server && written != 0) { // No memory, as a rule.
                auto forgetting = forget(beside);
                co_await std::move(forgetting);
            }
            co_return how;
        }
        if (written == 0 && is_null_)
            co_return end_with(error::value_incomplete, outcome::name_taken);
        written += range.size();
        bool const is_appended = written == range.size() || static_cast<std::size_t>(number_) == written;
        if (!is_appended) { // Its time had come, and APPEND has made another key.
            auto forgetting = forget(beside);
            co_await std::move(forgetting);
            co_return end_with(error::value_incomplete, outcome::lost);
        }
    }
    auto ending = finish(beside);
    auto const how = co_await std::move(ending);
    co_return how;
}

/// How often the key may change between the look at it and RENAME.
constexpr int looks_max = 16;

awaitable<range_writing::outcome> range_writing::finish(std::string_view beside) {
    auto how = outcome::changed;
    bool const watches = how_.condition.is_xx() || (how_.expiry.keeps() && !how_.condition.is_nx());
    for (int looks = 0; how == outcome::changed && looks != looks_max; ++looks) {
        how = outcome::done;
        if (watches) {
            auto watching = watch_key();
            how = co_await std::move(watching);
        }
        if (how == outcome::done) {
            auto putting = put_in_place(beside);
            how = co_await std::move(putting);
        }
    }
    if (watches && (how == outcome::unmet || how == outcome::changed)) {
        auto forgetting = forget(beside);
        co_await std::move(forgetting);
    }
    if (how == outcome::changed)
        co_return end_with(error::watched_key_changed, outcome::failed);
    co_return how;
}

/// The transaction is executed only if the key is then as it is here.
awaitable<range_writing::outcome> range_writing::watch_key() {
    bool const keeps = how_.expiry.keeps();
    clear_request();
    ask(reply_kind::done, "WATCH", key_);
    ask(reply_kind::number, keeps ? "PEXPIRETIME" : "EXISTS", key_);
    auto executing = execute_request();
    auto const ec = co_await std::move(executing);
    if (ec)
        co_return end_unwritten(ec);
    expires_at_ms_ = keeps ? number_ : -1;
    bool const is_there = keeps ? number_ != -2 : number_ != 0;
    co_return how_.condition.is_xx() && !is_there ? outcome::unmet : outcome::done;
}

/// MULTI goes alone: if it is refused, what comes behind it would be executed.
awaitable<range_writing::outcome> range_writing::put_in_place(std::string_view beside) {
    clear_request();
    ask(reply_kind::done, "MULTI");
    auto opening = execute_request();
    auto const refusal = co_await std::move(opening);
    if (refusal)
        co_return end_unwritten(refusal);
    clear_request();
    if (expires_at_ms_ >= 0)
        ask(reply_kind::done, "PEXPIREAT", beside, expires_at_ms_);
    else if (how_.expiry.after().count() != 0)
        ask(reply_kind::done, "PEXPIRE", beside, how_.expiry.after().count());
    else
        ask(reply_kind::done, "PERSIST", beside);
    ask(reply_kind::done, how_.condition.is_nx() ? "RENAMENX" : "RENAME", beside, key_);
    if (how_.condition.is_nx())
        ask(reply_kind::done, "UNLINK", beside); // It is there where RENAMENX did nothing.
    ask(reply_kind::outcome, "EXEC");
    is_in_place_ = true;
    auto executing = execute_request();
    auto const ec = co_await std::move(executing);
    if (!ec && !is_gone_ && !is_null_)
        co_return is_there_ ? outcome::unmet : outcome::done;
    is_in_place_ = ec == error::maybe_executed || ec == error::no_answer_in_time || ec == error::answers_out_of_order;
    if (is_in_place_)
        co_return end_with(ec, outcome::failed, ec.ending); // Somebody may have written the key since.
    if (!ec && is_null_)
        co_return outcome::changed;
    co_return ec ? end_unwritten(ec) : end_with(error::value_incomplete, outcome::lost);
}

/// Not for those who were asked to end, or have a transaction open: then it goes by its time.
awaitable<void> range_writing::forget(std::string_view beside) {
    request forgetting;
    forgetting.set_timeout(how_.timeout);
    forgetting.push("UNLINK", beside);
    auto executing = executed(core_, forgetting, {nullptr, &deliver_nothing, response_ref::any_number});
    co_await std::move(executing);
}

// ---- requests and replies

void range_writing::clear_request() noexcept {
    request_.clear();
    replies_ = 0;
    is_null_ = is_gone_ = is_there_ = false;
}

template <class... Words> void range_writing::ask(reply_kind reply, Words const&... words) {
    request_.push(words...);
    expected_[replies_++] = reply;
}

awaitable<call_error> range_writing::execute_request() { return executed(core_, request_, {this, &deliver, replies_}); }

error_code range_writing::deliver(void* object, std::size_t index, reply_view const& reply) {
    auto& self = *static_cast<range_writing*>(object);
    reply_reader in(reply);
    if (resp3::is_error(in.peek().kind)) {
        self.note_refusal(index, in.peek().value);
        return refusal_of(in.peek().value);
    }
    if (self.expected_[index] == reply_kind::number)
        return in.read(self.number_);
    if (self.expected_[index] == reply_kind::done)
        return {};
    self.is_null_ = in.peek().kind == resp3::type::null;
    // Of EXEC: its header, and the reply to RENAMENX behind another one.
    self.is_there_ = self.how_.condition.is_nx() && reply.nodes.size() > 2 && reply.nodes[2].value == "0";
    for (auto const& element : reply.nodes) { // of EXEC
        if (!resp3::is_error(element.kind))
            continue;
        self.is_gone_ = element.value.starts_with("ERR no such key");
        if (self.is_gone_)
            continue;
        self.note_refusal(index, element.value);
        return refusal_of(element.value);
    }
    return {};
}

void range_writing::note_refusal(std::size_t index, std::string_view text) {
    if (!refusal_.empty())
        return;
    refusal_.assign(text);
    refused_at_ = static_cast<std::uint32_t>(index);
}

// ---- how it ends

range_writing::outcome range_writing::end_with(error_code const& ec, outcome how, std::uint64_t ending) noexcept {
    failure_ = {ec, ending};
    return how;
}

/// The key is as it was, whatever has become of the one beside.
range_writing::outcome range_writing::end_unwritten(call_error const& ec) noexcept {
    if (ec == error::maybe_executed || ec == error::not_sent || ec == error::not_connected)
        return end_with(error::value_incomplete, outcome::lost, ec.ending);
    if (ec == error::no_answer_in_time)
        return end_with(error::not_sent_in_time, outcome::failed);
    return end_with(ec, outcome::failed, ec.ending);
}

void range_writing::throw_failure(bool is_asked) const {
    exec_op o;
    o.begin(nullptr, &request_);
    bool const is_given_up = is_asked && !is_in_place_ && failure_ != condition::refused_by_server;
    error_code const given_up = fairlead::error::operation_aborted;
    o.fail(is_given_up ? given_up : error_code(failure_), refused_at_);
    o.first_entry = is_given_up ? 0 : failure_.ending;
    throw system_error(o.error(), described(o, refusal_));
}

// ---- attempts

namespace {

void check(writing_options const& how) {
    if (how.range == 0)
        throw std::invalid_argument("redis: writing_options::range has to be 1 at least");
    if (how.kept < std::chrono::seconds(1))
        throw std::invalid_argument("redis: writing_options::kept has to be a second at least");
    if (how.expiry.after() < std::chrono::milliseconds(0))
        throw std::invalid_argument("redis: writing_options::expiry has to be positive, or 0 for none");
}

awaitable<bool> write_whole(client& db, std::string key, std::string_view value, writing_options how,
                            unsigned attempts) {
    for (std::int64_t names = 0;; ++names) {
        auto acquiring = db.acquire();
        lease own = co_await std::move(acquiring);
        auto& core = lease_access::core(own);
        range_writing writing(core, key, value, how);
        auto const beside = name_beside(key, core.engine().now_ns() + names);
        auto trying = writing.write(beside);
        auto const ended = co_await std::move(trying);
        if (ended == range_writing::outcome::done || ended == range_writing::outcome::unmet)
            co_return ended == range_writing::outcome::done;
        auto const state = co_await this_coro::cancellation_state;
        bool const is_asked = state.cancelled() != cancellation_type::none;
        bool const goes_on =
            ended == range_writing::outcome::name_taken || (ended == range_writing::outcome::lost && attempts > 1);
        if (!goes_on || is_asked)
            writing.throw_failure(is_asked);
        attempts -= ended == range_writing::outcome::lost;
    }
}

} // namespace

awaitable<bool> set_ranges(client& db, key_view key, std::string_view value, writing_options const& how,
                           unsigned attempts) {
    check(how);
    return write_whole(db, std::string(key.text()), value, how, attempts);
}

} // namespace fairlead::redis::impl
