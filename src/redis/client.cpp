// The public face of a client.
#include <redis/client_core.hpp>

#include <stdexcept>

namespace fairlead::redis {
namespace impl {
namespace {

/// Settings that a client would not heed.
config_view const& checked(config_view const& cfg) {
    config_view const usual;
    if (cfg.dedicated)
        throw std::invalid_argument("redis::client: config::dedicated is of a redis::connection, for what its commands "
                                    "change would be lost with each connection");
    if (cfg.pushes != usual.pushes || cfg.pushes_max != usual.pushes_max || cfg.push_bytes_max != usual.push_bytes_max)
        throw std::invalid_argument("redis::client: the limits of pushes are of a redis::connection; set "
                                    "client_options::subscription_buffer");
    return cfg;
}

} // namespace

client_core::client_core(any_io_executor const& ex, config_view const& cfg, connector const* how,
                         client_options options)
    : cfg_(checked(cfg)),
      options_(std::move(options)),
      how_(how ? std::optional<connector>(*how) : std::nullopt),
      shared_(how ? new connection_core(ex, *how) : new connection_core(ex)),
      pool_(*this),
      pause_(shared_->io_executor()),
      renewal_(shared_->io_executor()),
      subscriptions_(shared_->executor()) {
    cfg_.keep_unsent = true;
    shared_->retain(); // beside the reference that its close() gives back
    shared_->configure(cfg_);
    shared_->is_watched_by(*this, options_.repeats_max);
    shared_->leaves_requests_to(pool_);
    shared_->takes_subscriptions_of_client_only();
    shared_->repeats_refused(options_.retry);
    if (options_.statistics || options_.before_call || options_.after_call)
        observer_ =
            std::make_shared<call_observer const>(options_.statistics, options_.before_call, options_.after_call);
    if (observer_)
        shared_->is_observed_by(observer_);
}

client_core::~client_core() { shared_->release(); }

void client_core::close() noexcept {
    subscriptions_.end_all();
    shared_->close();
    pool_.close();
    release();
}

client_counters client_core::counters() const noexcept {
    return {.attempts = attempts_,
            .failed = failed_,
            .ready = ready_,
            .lost = lost_,
            .restored = restored_,
            .subscriptions_lost = topics_lost_,
            .repeated = shared_->repeated() + pool_.repeated(),
            .renewed = renewed_,
            .not_renewed = not_renewed_,
            .refused = refused_,
            .gave_up = gave_up_,
            .leases_failed = leases_failed_};
}

connection_counters client_core::traffic() noexcept {
    auto all = shared_->counters();
    pool_.add_counters(all);
    all.pushes_dropped += subscriptions_.dropped();
    return all;
}

client_statistics client_core::statistics() {
    return {.events = counters(),
            .traffic = traffic(),
            .pending = pending(),
            .is_ready = shared_->is_connected(),
            .commands = options_.statistics ? options_.statistics->commands() : std::vector<command_statistics>()};
}

any_io_executor executor_of(client_core& c) { return c.executor(); }
any_io_executor loop_executor_of(client_core& c) { return c.io_executor(); }
awaitable<error_code> run_of(client_core& c, std::shared_ptr<giving_up> g) { return c.run(std::move(g)); }

} // namespace impl

client::client(any_io_executor const& ex, config_view const& cfg, client_options options)
    : core_(new impl::client_core(ex, cfg, nullptr, std::move(options))),
      shared_(&core_->shared()) {}
client::client(any_io_executor const& ex, config_view const& cfg, connector const& how, client_options options)
    : core_(new impl::client_core(ex, cfg, &how, std::move(options))),
      shared_(&core_->shared()) {}
client::~client() {
    if (core_)
        core_->close();
}
any_io_executor client::get_executor() const noexcept { return core_->executor(); }
void client::cancel() noexcept { core_->cancel(); }
void client::renew_credentials() noexcept { core_->renew_credentials(); }
std::size_t client::cancel(request const& req) noexcept { return shared_->cancel(req); }
bool client::is_ready() const noexcept { return shared_->is_connected(); }
std::string client::server_text() const { return shared_->server_text(); }
std::size_t client::pending() const noexcept { return core_->pending(); }
client_counters client::counters() const noexcept { return core_->counters(); }
connection_counters client::traffic() const noexcept { return core_->traffic(); }
awaitable<lease> client::acquire() { return impl::client_core::acquire(impl::client_core::reference(core_)); }
client_statistics client::statistics() const { return core_->statistics(); }
std::string client::recent_events() const { return shared_->recent_events(); }

} // namespace fairlead::redis
