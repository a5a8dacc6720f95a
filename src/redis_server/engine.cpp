// The engine's frame: its clients, their bytes, and the order in which other clients learn of changes.
#include <fairlead/redis_server/engine.hpp>

#include <fairlead/base/assert.hpp>
#include <redis_server/state.hpp>
#include <redis_server/text.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fairlead::redis {
namespace server_impl {
namespace {

// Tells the owners of sessions that others gave output to. Any of them may be destroyed meanwhile, also the one whose
// feed() this ends: a destroyed session takes itself off the list.
void tell_dirty(server_state& server) {
    while (!server.dirty.empty()) {
        server_session& who = *server.dirty.front();
        server.dirty.pop_front();
        who.is_dirty = false;
        if (auto const told = who.on_output) // a copy: the callback may destroy its own session
            told();
    }
}

// Reads what clients sent while their command waited, then tells the owners.
void settle(server_state& server) {
    while (!server.resumed.empty()) {
        server_session& who = *server.resumed.front();
        server.resumed.pop_front();
        if (!who.closing && !who.waits)
            consume(who, {});
    }
    tell_dirty(server);
}

} // namespace
} // namespace server_impl

server_data::server_data() : kept_(std::make_unique<server_impl::kept_databases>()) {}
server_data::~server_data() = default;

server_engine::server_engine(server_engine_options options) {
    FAIRLEAD_ASSERT(options.databases > 0);
    auto data = options.data ? options.data : std::make_shared<server_data>();
    if (data->kept_->is_in_use)
        throw std::logic_error("an embedded Redis server was given the data of another one, which has not gone yet");
    options.data = data;
    state_ = std::make_unique<server_impl::server_state>(std::move(options), *data->kept_);
    if (state_->databases.size() < state_->options.databases)
        state_->databases.resize(state_->options.databases);
    data->kept_->is_in_use = true;
    state_->started_at = state_->now();
    state_->users.emplace("default", server_impl::default_user(state_->options.password));
}

server_engine::~server_engine() {
    FAIRLEAD_ASSERT(state_->sessions.empty());
    state_->options.data->kept_->is_in_use = false;
}

std::size_t server_engine::client_count() const noexcept { return state_->sessions.size(); }
std::uint64_t server_engine::commands_run() const noexcept { return state_->commands_run; }

std::string server_engine::add_script(std::string_view body, server_script run) {
    std::string sha1 = script_sha1(body);
    state_->scripts.insert_or_assign(sha1, server_impl::known_script{std::move(run)});
    return sha1;
}

void server_engine::add_script_of_sha1(std::string_view sha1, server_script run) {
    state_->scripts.insert_or_assign(server_impl::to_lower(sha1), server_impl::known_script{std::move(run), true});
}

void server_engine::add_function(std::string_view name, server_script run) {
    state_->functions.insert_or_assign(std::string(name), std::move(run));
}

std::optional<std::chrono::milliseconds> server_engine::next_time_limit() const noexcept {
    auto const& limits = state_->time_limits;
    if (limits.empty())
        return {};
    return std::chrono::milliseconds(limits.begin()->first.first);
}

void server_engine::end_late_waits() {
    state_->end_late_waits();
    server_impl::settle(*state_);
}

server_engine::client::client(server_engine& engine, std::string_view address)
    : session_(std::make_unique<server_impl::server_session>(*engine.state_)) {
    session_->id = ++engine.state_->last_id;
    session_->address = address;
    session_->created_at = engine.state_->now();
    server_impl::reset_session(*session_);
    engine.state_->sessions.emplace(session_->id, session_.get());
}

server_engine::client::~client() {
    server_impl::server_state& server = session_->server;
    if (session_->waits)
        server.stop_waiting(*session_);
    std::erase(server.resumed, session_.get());
    server.unwatch(*session_);
    server.unsubscribe_all(*session_);
    server.sessions.erase(session_->id);
    std::erase(server.dirty, session_.get());
}

void server_engine::client::feed(std::string_view bytes) {
    server_impl::server_session& self = *session_;
    if (self.closing)
        return;
    self.server.end_late_waits();
    if (self.waits) {
        self.input += bytes;
        if (self.input.size() > self.server.options.transaction_bytes_max)
            self.server.close(self); // Nothing takes these bytes while its command waits.
    } else {
        server_impl::consume(self, bytes);
    }
    server_impl::settle(self.server); // Last: it may destroy *this.
}

std::string& server_engine::client::output() noexcept { return session_->output; }
bool server_engine::client::wants_close() const noexcept { return session_->closing; }
std::uint64_t server_engine::client::id() const noexcept { return session_->id; }
void server_engine::client::on_output(std::function<void()> changed) { session_->on_output = std::move(changed); }

} // namespace fairlead::redis
