// The public face of a connection.
#include <fairlead/redis/connection.hpp>

#include <redis/connection_core.hpp>

namespace fairlead::redis {
namespace impl {

connection_core::connection_core(any_io_executor const& ex, transport* other)
    : connection_core(ex, io::impl::io_loop_for(ex), other) {}

connection_core::connection_core(any_io_executor const& ex, io::impl::io_loop_ref const& on, transport* other)
    : executor_(ex),
      engine_(on),
      chances_(use_service<chances>(engine_->context())),
      mux_(cfg_),
      sockets_(*engine_),
      stream_(other ? other : &sockets_),
      timer_(io_executor()),
      limits_(*engine_, engine_->now_ns(), this,
              [](void* self) noexcept { static_cast<connection_core*>(self)->on_limits(); }),
      before_the_queue_(*this, *engine_),
      refused_(*this, *engine_),
      repeating_(*engine_, engine_->now_ns(), this,
                 [](void* self) noexcept { static_cast<connection_core*>(self)->repeat_refused(); }) {
    before_the_queue_.start_from(limits_);
    refused_.start_from(limits_);
    if (!fairlead::impl::exec::loop_of(executor_)) {
        elsewhere_.emplace(executor_);
        references_.fetch_or(runs_elsewhere, std::memory_order_relaxed);
        ends_plainly_ = false;
    }
    flush_.core = others_.core = arrive_.core = homing_.core = write_.core = read_.core = this;
    flush_.run = &connection_core::on_flush;
    others_.run = &connection_core::on_turn_of_others;
    arrive_.run = &connection_core::on_arrive;
    homing_.run = &connection_core::on_homing;
    flush_.cancel = others_.cancel = arrive_.cancel = homing_.cancel = nullptr;
    write_.run = &connection_core::on_written;
    read_.run = &connection_core::on_read;
    ping_.first_entry = restore_.first_entry = auth_.first_entry = 0;
    ping_request_.push("PING");
    mux_.begin_tokens_behind(static_cast<std::uint32_t>(chance()));
    mux_.note_in(events_);
}

connection_core::connection_core(any_io_executor const& ex, connector const& c) : connection_core(ex) {
    stream_ = &streams_.emplace(*engine_, c);
}

connection_core::connection_core(connection_core& like, connector const* c)
    : connection_core(like.executor_, like.engine_, nullptr) {
    limits_.start_from(like.limits_);
    before_the_queue_.start_from(limits_);
    refused_.start_from(limits_);
    if (c)
        stream_ = &streams_.emplace(*engine_, *c);
}

void exec_canceller::request(op& o) const noexcept { end(static_cast<exec_op&>(o)); }
void exec_canceller::end(exec_op& o) const noexcept { o.connection->ask(o); }
connection_core::~connection_core() = default;

void run_canceller::request(op& o) const noexcept {
    auto& r = static_cast<run_op&>(o);
    r.connection->ask(r);
}
void run_canceller::end(run_op& o) const noexcept { o.connection->end(o); }
loop* loop_of(connection_core& c) noexcept { return &c.loop(); }
void discard_settings::operator()(config* c) const noexcept { delete c; }
settings_of_run keep_settings(config_view const& cfg) { return settings_of_run(new config(cfg)); }

} // namespace impl

connection::connection(any_io_executor const& ex) : core_(new impl::connection_core(ex)) {}
connection::connection(any_io_executor const& ex, connector const& c) : core_(new impl::connection_core(ex, c)) {}
connection::~connection() {
    if (core_)
        core_->close();
}
any_io_executor connection::get_executor() const noexcept { return core_->executor(); }
void connection::cancel() noexcept { core_->cancel(); }
std::size_t connection::cancel(request const& req) noexcept { return core_->cancel(req); }
bool connection::is_ready() const noexcept { return core_->is_connected(); }
resp3::version connection::protocol() const noexcept { return core_->protocol(); }
std::string connection::server_text() const { return core_->server_text(); }
std::size_t connection::pending() const noexcept { return core_->pending(); }
connection_counters connection::counters() const noexcept { return core_->counters(); }
std::string connection::recent_events() const { return core_->recent_events(); }

} // namespace fairlead::redis
