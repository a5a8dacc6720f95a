#include <fairlead/redis/value_ranges.hpp>

#include <redis/call.hpp>
#include <redis/connection_core.hpp>
#include <redis/range_reading.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/redis/typed_call.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace fairlead::redis::impl {
namespace {

/// So that the end of a range is a number for the server.
constexpr std::uint64_t range_bytes_max = std::uint64_t{1} << 60;

} // namespace

range_reading::range_reading(connection_core& c, key_view key, reading_options const& how, bool is_callers)
    : core_(c),
      key_(key.text()),
      range_bytes_(std::min<std::uint64_t>(how.range, range_bytes_max)),
      is_callers_(is_callers),
      is_done_(c.io_executor()) {
    request_.set_timeout(how.timeout);
    core_.retain();
}

// ---- the reader's side

/// While a request is under way its range may be there already, and the answer to EXEC not yet.
awaitable<void> range_reading::fill(pointer self) {
    if (self->is_under_way_ || self->bytes().empty()) {
        auto stepping = await_step(self);
        co_await std::move(stepping);
    }
}

awaitable<void> range_reading::await_step(pointer self) {
    if (!self->is_under_way_) {
        if (self->failure_)
            self->throw_failure();
        self->is_done_.reset();
        co_spawn(self->core_.io_executor(), perform_step(self), detached);
        self->is_under_way_ = true;
    }
    auto waiting = self->is_done_.async_wait();
    co_await std::move(waiting);
    self->is_under_way_ = false;
    if (self->failure_)
        self->throw_failure();
}

void range_reading::leave(pointer self) noexcept {
    if (!self->is_callers_)
        return; // The pool has the connection forget it.
    if (!self->is_under_way_ && !self->is_watching_)
        return;
    auto& core = self->core_;
    self->is_under_way_ = true; // Nothing of it is looked at any more.
    try {
        co_spawn(core.io_executor(), forget_key(std::move(self)), detached);
    } catch (...) { // no memory
        core.cancel();
    }
}

awaitable<void> range_reading::forget_key(pointer self) {
    request forgetting;
    forgetting.push("UNWATCH");
    auto executing = executed(self->core_, forgetting, {nullptr, &deliver_nothing, response_ref::any_number});
    co_await std::move(executing); // It fails where the server has forgotten anyway.
}

std::optional<value_reader> range_reading::reader_of(pointer self, lease&& own) {
    std::optional<value_reader> reader;
    if (!self->is_there_)
        return reader;
    auto& core = self->core_;
    reader.emplace(value_reader(core, std::move(own)));
    reader->size_ = reader->left_ = self->size_;
    if (self->size_ == self->range_.size())
        reader->own_ = lease(); // All of it has come.
    reader->ranges_ = std::move(self);
    return reader;
}

void range_reading::throw_failure() const {
    exec_op o;
    o.begin(nullptr, &request_);
    o.fail(failure_, refused_at_);
    o.first_entry = failure_.ending;
    throw system_error(failure_, described(o, refusal_));
}

// ---- on the loop: one step, which is a request or two

awaitable<void> range_reading::perform_step(pointer self) {
    try {
        auto step = self->has_begun_ ? self->read_next() : self->begin_here();
        co_await std::move(step);
    } catch (...) {
        self->end_with(code_of(std::current_exception()));
    }
    self->is_done_.set();
}

awaitable<void> range_reading::begin_here() {
    has_begun_ = true;
    is_watching_ = true;
    clear_request();
    ask(reply_kind::done, "WATCH", key_);
    ask_for_range();
    ask(reply_kind::number, "STRLEN", key_);
    auto executing = execute_request();
    bool const is_executed = co_await std::move(executing);
    if (!is_executed)
        co_return;
    size_ = number_;
    read_ = range_.size();
    is_there_ = read_ != 0;
    if (is_there_ && read_ < range_bytes_) { // One command is atomic, so it is a value without EXEC, too.
        size_ = read_;
        if (is_callers_) {
            is_watching_ = false;
            auto forgetting = forget_key(shared_from_this());
            co_await std::move(forgetting);
        }
    } else if (size_ < read_) {
        end_with(error::value_changed);
    } else if (size_ == read_) {
        auto making_sure = make_sure_of_first();
        co_await std::move(making_sure);
    }
}

/// The first range was all, or nothing: then EXISTS tells an empty text from none.
awaitable<void> range_reading::make_sure_of_first() {
    auto first = std::move(range_);
    clear_request();
    if (first.empty())
        ask(reply_kind::number, "EXISTS", key_);
    ask_whether_changed();
    auto executing = execute_request();
    bool const is_executed = co_await std::move(executing);
    if (!is_executed)
        co_return;
    range_ = std::move(first);
    if (range_.empty())
        is_there_ = number_ != 0;
    if (is_there_ && !is_unchanged_)
        end_with(error::value_changed);
}

awaitable<void> range_reading::read_next() {
    auto const due = std::min<std::uint64_t>(range_bytes_, size_ - read_);
    bool const is_last = due == size_ - read_;
    clear_request();
    ask_for_range();
    if (is_last)
        ask_whether_changed();
    auto executing = execute_request();
    bool const is_executed = co_await std::move(executing);
    if (!is_executed)
        co_return;
    read_ += due;
    if (range_.size() != due || (is_last && !is_unchanged_))
        end_with(error::value_changed);
}

// ---- requests and replies

void range_reading::clear_request() noexcept {
    request_.clear();
    replies_ = 0;
    asks_whether_changed_ = false;
    is_unchanged_ = false;
    refused_at_ = 0;
    range_.clear();
    taken_ = 0;
}

template <class... Words> void range_reading::ask(reply_kind reply, Words const&... words) {
    request_.push(words...);
    expected_[replies_++] = reply;
}

/// Also of the last range as much as of the others: a longer value has changed.
void range_reading::ask_for_range() { ask(reply_kind::text, "GETRANGE", key_, read_, read_ + range_bytes_ - 1); }

void range_reading::ask_whether_changed() {
    asks_whether_changed_ = true;
    ask(reply_kind::done, "MULTI");
    ask(reply_kind::outcome, "EXEC");
}

awaitable<bool> range_reading::execute_request() {
    auto executing = executed(core_, request_, {this, &deliver, replies_});
    auto const ec = co_await std::move(executing);
    if (ec)
        note_failure(ec);
    else if (asks_whether_changed_)
        watches_no_more();
    co_return !failure_;
}

/// The server has forgotten the key with EXEC. So the pool need not ask it to, and has the connection free at once.
void range_reading::watches_no_more() noexcept {
    is_watching_ = false;
    if (!is_callers_)
        (void)core_.take_use();
}

error_code range_reading::deliver(void* object, std::size_t index, reply_view const& reply) {
    auto& self = *static_cast<range_reading*>(object);
    reply_reader in(reply);
    if (resp3::is_error(in.peek().kind)) {
        if (self.refusal_.empty()) {
            self.refusal_.assign(in.peek().value);
            self.refused_at_ = static_cast<std::uint32_t>(index);
        }
        return refusal_of(in.peek().value);
    }
    return self.take_reply(self.expected_[index], in);
}

error_code range_reading::take_reply(reply_kind expected, reply_reader& in) {
    switch (expected) {
    case reply_kind::text: return in.read(range_);
    case reply_kind::number: return in.read(number_);
    case reply_kind::outcome: is_unchanged_ = in.peek().kind != resp3::type::null; break;
    case reply_kind::done: break;
    }
    return {};
}

void range_reading::note_failure(call_error const& ec) {
    bool const is_refusal = ec == condition::refused_by_server;
    bool const is_known = is_refusal || ec == condition::timed_out || ec == error::incompatible_type ||
                          ec == error::too_many_requests || ec == error::answers_out_of_order;
    if (ec == error::wrong_type && read_ != 0)
        return end_with(error::value_changed); // It was a text.
    if (is_refusal && asks_whether_changed_)
        core_.cancel(); // A refused EXEC leaves the transaction open.
    end_with(is_known ? error_code(ec) : error_code(error::value_incomplete));
    failure_.ending = ec.ending;
}

void range_reading::end_with(error_code const& ec) noexcept {
    failure_ = {ec, 0};
    range_.clear();
    taken_ = 0;
}

// ---- how it begins

namespace {

void check(reading_options const& how) {
    if (how.range == 0)
        throw std::invalid_argument("redis: reading_options::range has to be 1 at least");
}

awaitable<std::optional<value_reader>> begin_reading(connection_core& c, lease own, std::string key,
                                                     reading_options how) {
    bool const is_callers = !own;
    auto reading = std::make_shared<range_reading>(c, key, how, is_callers);
    bool is_read = false;
    fairlead::impl::base::at_scope_end const leave([&reading, &is_read] {
        if (!is_read)
            range_reading::leave(reading);
    });
    auto beginning = range_reading::begin(reading);
    co_await std::move(beginning);
    is_read = true;
    co_return range_reading::reader_of(reading, std::move(own));
}

awaitable<std::optional<value_reader>> begin_reading(client& db, std::string key, reading_options how) {
    auto acquiring = db.acquire();
    lease own = co_await std::move(acquiring);
    auto& core = lease_access::core(own);
    auto reading = begin_reading(core, std::move(own), std::move(key), how);
    auto reader = co_await std::move(reading);
    co_return reader;
}

/// In place of growing, which copies megabytes while others wait. A server may say any size.
constexpr std::uint64_t reserved_bytes_max = std::uint64_t{512} << 20;

awaitable<void> append_all(value_reader& from, std::string& text) {
    while (from.left() != 0) {
        auto reading = from.next();
        auto const piece = co_await std::move(reading);
        text.append(piece);
    }
}

awaitable<std::optional<std::string>> whole_text(client& db, std::string key, reading_options how, unsigned attempts) {
    for (;; --attempts) {
        try {
            auto beginning = begin_reading(db, key, how);
            auto reader = co_await std::move(beginning);
            if (!reader)
                co_return std::nullopt;
            std::string text;
            text.reserve(static_cast<std::size_t>(std::min(reader->size(), reserved_bytes_max)));
            auto appending = append_all(*reader, text);
            co_await std::move(appending);
            co_return text;
        } catch (system_error const& e) {
            bool const may_be_whole_next = e.code() == error::value_changed || e.code() == error::value_incomplete;
            if (!may_be_whole_next || attempts <= 1)
                throw;
        }
    }
}

} // namespace

awaitable<std::optional<value_reader>> read_ranges(client& db, key_view key, reading_options const& how) {
    check(how);
    return begin_reading(db, std::string(key.text()), how);
}

awaitable<std::optional<value_reader>> read_ranges(lease& own, key_view key, reading_options const& how) {
    check(how);
    return begin_reading(lease_access::core(own), lease(), std::string(key.text()), how);
}

awaitable<std::optional<std::string>> get_ranges(client& db, key_view key, reading_options const& how,
                                                 unsigned attempts) {
    check(how);
    return whole_text(db, std::string(key.text()), how, attempts);
}

} // namespace fairlead::redis::impl
