#include <redis/greeting.hpp>

#include <fairlead/resp3/error.hpp>
#include <fairlead/resp3/writer.hpp>

namespace fairlead::redis::impl {
namespace {

/// The credentials were not accepted, or none were given where some are needed.
bool is_about_credentials(std::string_view text) noexcept {
    return text.starts_with("WRONGPASS") || text.starts_with("NOAUTH") || text.starts_with("NOPERM") ||
           text.starts_with("ERR invalid password") || text.starts_with("ERR Client sent AUTH");
}

bool is_unknown_hello(std::string_view text) noexcept {
    return text.starts_with("ERR unknown command") || text.starts_with("NOPROTO");
}

} // namespace

template <class... Arguments> void greeting::add(Arguments const&... arguments) {
    resp3::append_command(payload_, arguments...);
    ++replies_;
}

greeting::action greeting::start(config const& cfg) {
    config_ = &cfg;
    phase_ = phase::hello;
    protocol_ = resp3::version::resp3;
    hello_unknown_ = false;
    failure_.clear();
    text_.clear();
    payload_.clear();
    replies_ = 0;

    std::string_view words[7] = {"HELLO", "3"};
    std::size_t count = 2;
    if (!cfg.password.empty()) {
        words[count++] = "AUTH";
        words[count++] = cfg.username.empty() ? std::string_view("default") : cfg.username;
        words[count++] = cfg.password;
    }
    if (!cfg.client_name.empty()) {
        words[count++] = "SETNAME";
        words[count++] = cfg.client_name;
    }
    resp3::append_command_header(payload_, count);
    for (std::size_t i = 0; i != count; ++i)
        resp3::append_argument(payload_, words[i]);
    ++replies_;
    if (cfg.database != 0)
        add("SELECT", cfg.database);
    return action::send;
}

void greeting::refused(error_code const& ec, std::string_view text) {
    if (failure_)
        return; // Later refusals are consequences of the first.
    failure_ = ec;
    text_.set(resp3::printable(text, 256));
}

void greeting::on_hello(reply_view const& reply) {
    auto const& first = reply.nodes[0];
    if (resp3::is_error(first.kind)) {
        if (is_unknown_hello(first.value))
            hello_unknown_ = true;
        else
            refused(is_about_credentials(first.value) ? error::auth_refused : error::hello_refused, first.value);
    } else if (first.kind != resp3::type::map) {
        refused(error::hello_refused, "the answer to HELLO is no map");
    }
}

void greeting::on_reply(std::size_t index, reply_view const& reply) {
    if (phase_ == phase::hello && index == 0)
        return on_hello(reply);
    auto const& first = reply.nodes[0];
    if (!resp3::is_error(first.kind) || hello_unknown_)
        return;
    bool const is_auth = phase_ == phase::without_hello && index == auth_at_ && !config_->password.empty();
    refused(is_auth || is_about_credentials(first.value) ? error::auth_refused : error::hello_refused, first.value);
}

greeting::action greeting::next() {
    if (phase_ == phase::hello && hello_unknown_) {
        if (config_->allow_resp2)
            return begin_without_hello();
        refused(error::resp3_required, "HELLO is unknown to the server");
    }
    return failure_ ? action::failed : action::ready;
}

greeting::action greeting::begin_without_hello() {
    phase_ = phase::without_hello;
    protocol_ = resp3::version::resp2;
    hello_unknown_ = false;
    payload_.clear();
    replies_ = 0;
    auth_at_ = 0;
    if (!config_->password.empty()) {
        if (config_->username.empty())
            add("AUTH", config_->password);
        else
            add("AUTH", config_->username, config_->password);
    }
    if (!config_->client_name.empty())
        add("CLIENT", "SETNAME", config_->client_name);
    if (config_->database != 0)
        add("SELECT", config_->database);
    return replies_ != 0 ? action::send : action::ready;
}

} // namespace fairlead::redis::impl
