#include <fairlead/redis/cmd/server_results.hpp>

#include <redis/reply_fields.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace fairlead::redis {

namespace {

using impl::read_fields;

/// Reads what is known of an array; `rest` elements behind that are passed over.
template <class... T> error_code read_first(reply_reader& in, std::size_t& rest, T&... known) {
    error_code ec;
    auto const size = impl::enter_sequence(in, ec);
    if (!ec && size < sizeof...(T))
        ec = error::incompatible_type;
    rest = size - sizeof...(T);
    ((ec = ec ? ec : in.read(known)), ...);
    return ec;
}
template <class... T> error_code read_all_known(reply_reader& in, T&... known) {
    std::size_t rest = 0;
    auto const ec = read_first(in, rest, known...);
    for (; !ec && rest != 0; --rest)
        in.skip();
    return ec;
}

/// A point in time, which servers give as seconds.
struct unix_time {
    std::chrono::system_clock::time_point& into;
    friend error_code from_reply(reply_reader& in, unix_time& time) {
        std::chrono::seconds since{};
        auto const ec = in.read(since);
        time.into = std::chrono::system_clock::time_point(since);
        return ec;
    }
};

bool read_right(acl_selector& rights, std::string const& name, reply_reader& in, error_code& ec) {
    if (name == "commands")
        ec = in.read(rights.commands);
    else if (name == "keys")
        ec = in.read(rights.keys);
    else if (name == "channels")
        ec = in.read(rights.channels);
    else
        return false;
    return true;
}

} // namespace

bool acl_user::is_on() const noexcept { return std::ranges::find(flags, "on") != flags.end(); }

error_code from_reply(reply_reader& in, acl_selector& selector) {
    selector = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) { return read_right(selector, name, in, ec); });
}

error_code from_reply(reply_reader& in, acl_user& user) {
    user = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "flags")
            ec = in.read(user.flags);
        else if (name == "passwords")
            ec = in.read(user.passwords);
        else if (name == "selectors")
            ec = in.read(user.selectors);
        else
            return read_right(user.rights, name, in, ec);
        return true;
    });
}

error_code from_reply(reply_reader& in, acl_verdict& verdict) {
    auto const ec = in.read(verdict.reason);
    verdict.is_allowed = !ec && verdict.reason == "OK";
    if (verdict.is_allowed)
        verdict.reason.clear();
    return ec;
}

error_code from_reply(reply_reader& in, acl_log_entry& entry) {
    entry = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "count")
            ec = in.read(entry.count);
        else if (name == "reason")
            ec = in.read(entry.reason);
        else if (name == "context")
            ec = in.read(entry.context);
        else if (name == "object")
            ec = in.read(entry.object);
        else if (name == "username")
            ec = in.read(entry.username);
        else if (name == "age-seconds")
            ec = in.read(entry.age);
        else if (name == "client-info")
            ec = in.read(entry.client);
        else
            return false;
        return true;
    });
}

error_code from_reply(reply_reader& in, slow_command& slow) {
    unix_time at{slow.at};
    return read_all_known(in, slow.id, at, slow.duration, slow.words, slow.address, slow.client_name);
}

error_code from_reply(reply_reader& in, latency_event& event) {
    unix_time at{event.at};
    return read_all_known(in, event.name, at, event.latest, event.greatest); // Valkey 8.1 has a sum and a count, too.
}

error_code from_reply(reply_reader& in, latency_sample& sample) {
    unix_time at{sample.at};
    return read_all_known(in, at, sample.latency);
}

error_code from_reply(reply_reader& in, command_latencies& latencies) {
    latencies = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "calls")
            ec = in.read(latencies.calls);
        else if (name == "histogram_usec")
            ec = in.read(latencies.at_most);
        else
            return false;
        return true;
    });
}

error_code from_reply(reply_reader& in, memory_figures& figures) {
    static constexpr std::pair<std::string_view, std::int64_t memory_figures::*> numbers[] = {
        {"peak.allocated", &memory_figures::peak_allocated},
        {"total.allocated", &memory_figures::total_allocated},
        {"startup.allocated", &memory_figures::startup_allocated},
        {"replication.backlog", &memory_figures::replication_backlog},
        {"clients.normal", &memory_figures::clients_normal},
        {"overhead.total", &memory_figures::overhead_total},
        {"keys.count", &memory_figures::keys_count},
        {"keys.bytes-per-key", &memory_figures::keys_bytes_per_key},
        {"dataset.bytes", &memory_figures::dataset_bytes},
        {"allocator.allocated", &memory_figures::allocator_allocated},
        {"allocator.active", &memory_figures::allocator_active},
        {"allocator.resident", &memory_figures::allocator_resident},
    };
    static constexpr std::pair<std::string_view, double memory_figures::*> shares[] = {
        {"dataset.percentage", &memory_figures::dataset_percentage},
        {"peak.percentage", &memory_figures::peak_percentage},
        {"fragmentation", &memory_figures::fragmentation},
    };
    figures = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) {
        for (auto const& [field, member] : numbers)
            if (name == field) {
                ec = in.read(figures.*member);
                return true;
            }
        for (auto const& [field, member] : shares)
            if (name == field) {
                ec = in.read(figures.*member);
                return true;
            }
        return false;
    });
}

error_code from_reply(reply_reader& in, connected_replica& replica) {
    return read_all_known(in, replica.host, replica.port, replica.offset);
}

error_code from_reply(reply_reader& in, replication_role& role) {
    role = {};
    std::string word;
    std::size_t rest = 0;
    auto ec = read_first(in, rest, word);
    if (ec)
        return ec;
    if (word == "master" && rest == 2) {
        role.is = replication_role::kind::master;
        ec = in.read(role.offset);
        return ec ? ec : in.read(role.replicas);
    }
    if (word == "sentinel" && rest == 1) {
        role.is = replication_role::kind::sentinel;
        return in.read(role.masters);
    }
    if (word != "slave" || rest != 4)
        return error::incompatible_type;
    role.is = replication_role::kind::replica;
    ((ec = in.read(role.master_host)) || (ec = in.read(role.master_port)) || (ec = in.read(role.link)) ||
     (ec = in.read(role.offset)));
    return ec;
}

error_code from_reply(reply_reader& in, command_description& described) {
    described = {};
    std::size_t rest = 0;
    auto ec = read_first(in, rest, described.name, described.arity, described.flags, described.first_key,
                         described.last_key, described.key_step);
    for (std::size_t i = 0; !ec && i != rest; ++i) {
        if (i == 0)
            ec = in.read(described.categories);
        else if (i == 1)
            ec = in.read(described.tips);
        else if (i == 3) // behind the specifications of keys
            ec = in.read(described.subcommands);
        else
            in.skip();
    }
    return ec;
}

error_code from_reply(reply_reader& in, command_documentation& documentation) {
    documentation = {};
    return read_fields(in, [&](std::string const& name, error_code& ec) {
        if (name == "summary")
            ec = in.read(documentation.summary);
        else if (name == "since")
            ec = in.read(documentation.since);
        else if (name == "group")
            ec = in.read(documentation.group);
        else if (name == "complexity")
            ec = in.read(documentation.complexity);
        else if (name == "deprecated_since")
            ec = in.read(documentation.deprecated_since);
        else if (name == "replaced_by")
            ec = in.read(documentation.replaced_by);
        else
            return false;
        return true;
    });
}

} // namespace fairlead::redis
