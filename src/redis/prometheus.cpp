// The numbers of clients as text that Prometheus reads: version 0.0.4 of its format.
#include <fairlead/redis/client_statistics.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

namespace fairlead::redis {
namespace {

/// One label of a sample. The value is escaped when it is written.
struct label {
    std::string_view name, value;
};

void append_escaped(std::string& to, std::string_view value) {
    for (char const c : value) {
        if (c == '\\' || c == '"')
            to.push_back('\\');
        if (c == '\n')
            to.append("\\n");
        else
            to.push_back(c);
    }
}

/// Exactly, in seconds.
std::string seconds(std::int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%09lld", static_cast<long long>(ns / 1'000'000'000),
                  static_cast<long long>(ns % 1'000'000'000));
    std::string_view shown = text;
    while (shown.ends_with('0'))
        shown.remove_suffix(1);
    if (shown.ends_with('.'))
        shown.remove_suffix(1);
    return std::string(shown);
}

class writer {
public:
    explicit writer(std::span<named_statistics const> clients) noexcept : clients_(clients) {}

    /// All samples of a metric stand together, behind its two lines.
    void begin(std::string_view name, std::string_view kind, std::string_view help) {
        name_ = name;
        text_.append("# HELP fairlead_redis_").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE fairlead_redis_").append(name).append(" ").append(kind).append("\n");
    }
    void sample(named_statistics const& of, std::string_view suffix, std::span<label const> labels,
                std::string_view value) {
        text_.append("fairlead_redis_").append(name_).append(suffix);
        char before = '{';
        auto const add = [&](label const& l) {
            text_.push_back(before);
            text_.append(l.name).append("=\"");
            append_escaped(text_, l.value);
            text_.push_back('"');
            before = ',';
        };
        if (of.client.data() != nullptr)
            add({"client", of.client});
        for (auto const& l : labels)
            add(l);
        if (before == ',')
            text_.push_back('}');
        text_.append(" ").append(value).append("\n");
    }
    void number(std::string_view name, std::string_view kind, std::string_view help,
                std::uint64_t (*of)(client_statistics const&)) {
        begin(name, kind, help);
        for (auto const& c : clients_)
            sample(c, "", {}, std::to_string(of(*c.numbers)));
    }
    template <class F> void each_command(F f) const {
        for (auto const& c : clients_)
            for (auto const& s : c.numbers->commands)
                f(c, s);
    }

    std::string text_;

private:
    std::span<named_statistics const> clients_;
    std::string_view name_;
};

void append_latencies(writer& w) {
    w.begin("command_duration_seconds", "histogram",
            "Time from the start of a request until the reply to its command.");
    w.each_command([&w](named_statistics const& c, command_statistics const& s) {
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k != latency_bounds && sum != s.calls; ++k) {
            sum += s.by_latency[k];
            auto const bound = seconds(std::chrono::nanoseconds(latency_bound(k)).count());
            label const labels[] = {{"command", s.command}, {"le", bound}};
            w.sample(c, "_bucket", labels, std::to_string(sum));
        }
        label const labels[] = {{"command", s.command}, {"le", "+Inf"}};
        w.sample(c, "_bucket", labels, std::to_string(s.calls));
        auto const command = std::span(labels).first(1);
        w.sample(c, "_sum", command, seconds(s.time.count()));
        w.sample(c, "_count", command, std::to_string(s.calls));
    });
}

void append_commands(writer& w) {
    append_latencies(w);
    w.begin("command_errors_total", "counter", "Commands that ended otherwise than with a reply of the right type.");
    w.each_command([&w](named_statistics const& c, command_statistics const& s) {
        for (std::size_t i = 1; i != call_outcomes; ++i) {
            auto const outcome = static_cast<call_outcome>(i);
            label const labels[] = {{"command", s.command}, {"error", to_string(outcome)}};
            if (s.of(outcome) != 0)
                w.sample(c, "", labels, std::to_string(s.of(outcome)));
        }
    });
    w.begin("command_sent_bytes_total", "counter", "Bytes of commands as they stand in their requests.");
    w.each_command([&w](named_statistics const& c, command_statistics const& s) {
        label const labels[] = {{"command", s.command}};
        w.sample(c, "", labels, std::to_string(s.bytes_sent));
    });
    w.begin("command_received_bytes_total", "counter", "Bytes of text in the replies to commands.");
    w.each_command([&w](named_statistics const& c, command_statistics const& s) {
        label const labels[] = {{"command", s.command}};
        w.sample(c, "", labels, std::to_string(s.bytes_received));
    });
}

void append_numbers(writer& w) {
    using S = client_statistics const&;
    w.number("ready", "gauge", "Whether a server serves now.", [](S s) -> std::uint64_t { return s.is_ready; });
    w.number("pending_requests", "gauge", "Requests that wait to be written or answered.",
             [](S s) -> std::uint64_t { return s.pending; });
    w.number("attempts_total", "counter", "Connections begun.", [](S s) { return s.events.attempts; });
    w.number("attempts_failed_total", "counter", "Connections that did not become ready.",
             [](S s) { return s.events.failed; });
    w.number("ready_total", "counter", "Connections that became ready.", [](S s) { return s.events.ready; });
    w.number("lost_total", "counter", "Connections that were ready and ended.", [](S s) { return s.events.lost; });
    w.number("restored_total", "counter", "Losses after which all subscriptions are in force again.",
             [](S s) { return s.events.restored; });
    w.number("subscriptions_lost_total", "counter", "Connections of subscriptions that ended, with RESP2.",
             [](S s) { return s.events.subscriptions_lost; });
    w.number("repeated_total", "counter", "Requests that were sent anew.", [](S s) { return s.events.repeated; });
    w.number("renewed_total", "counter", "New credentials that the server accepted without a new connection.",
             [](S s) { return s.events.renewed; });
    w.number("not_renewed_total", "counter", "New credentials that it refused, or that could not be had.",
             [](S s) { return s.events.not_renewed; });
    w.number("refused_total", "counter", "Times that the server refused to restore a subscription.",
             [](S s) { return s.events.refused; });
    w.number("gave_up_total", "counter", "Times that the client gave up.", [](S s) { return s.events.gave_up; });
    w.number("leases_failed_total", "counter", "Connections beside the shared one that could not be made.",
             [](S s) { return s.events.leases_failed; });
    w.number("requests_total", "counter", "Requests accepted for sending.", [](S s) { return s.traffic.requests; });
    w.number("commands_total", "counter", "Commands in them.", [](S s) { return s.traffic.commands; });
    w.number("replies_total", "counter", "Replies received.", [](S s) { return s.traffic.replies; });
    w.number("replies_dropped_total", "counter", "Replies to requests that were cancelled.",
             [](S s) { return s.traffic.replies_dropped; });
    w.number("writes_total", "counter", "Batches given to the system.", [](S s) { return s.traffic.writes; });
    w.number("reads_total", "counter", "Reads that brought bytes.", [](S s) { return s.traffic.reads; });
    w.number("written_bytes_total", "counter", "Bytes written.", [](S s) { return s.traffic.bytes_written; });
    w.number("read_bytes_total", "counter", "Bytes read.", [](S s) { return s.traffic.bytes_read; });
    w.number("pushes_total", "counter", "Pushes received.", [](S s) { return s.traffic.pushes; });
    w.number("pushes_dropped_total", "counter", "Messages that a subscription had no room for.",
             [](S s) { return s.traffic.pushes_dropped; });
}

std::string text_of(std::span<named_statistics const> clients) {
    writer w(clients);
    append_numbers(w);
    bool const has_commands = std::ranges::any_of(clients, [](auto& c) { return !c.numbers->commands.empty(); });
    if (has_commands)
        append_commands(w);
    return std::move(w.text_);
}

} // namespace

std::string to_prometheus(std::span<named_statistics const> clients) { return text_of(clients); }

std::string to_prometheus(client_statistics const& numbers) {
    named_statistics const alone{.client = {}, .numbers = &numbers};
    return text_of({&alone, 1});
}

} // namespace fairlead::redis
