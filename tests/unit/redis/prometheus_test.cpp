// The text for Prometheus, read back by a strict parser of its format.
#include <fairlead/redis/client_statistics.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {
namespace {

/// Reads the format as its page says, and no more: what a lenient scraper would let pass is an error here.
class exposition {
public:
    using labels = std::map<std::string, std::string>;
    struct family {
        std::string kind, help;
        std::vector<std::pair<std::string, std::pair<labels, double>>> samples; // by the whole name
    };
    std::map<std::string, family> families;

    explicit exposition(std::string_view text) : rest_(text) {
        if (!text.empty() && text.back() != '\n')
            fail("the last line has no end");
        while (!rest_.empty()) {
            auto const end = rest_.find('\n');
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(end + 1);
            line_.starts_with('#') ? comment() : sample();
        }
        for (auto const& [name, f] : families)
            check(name, f);
    }
    double at(std::string const& family_name, std::string const& name, labels const& wanted) const {
        for (auto const& [n, s] : families.at(family_name).samples)
            if (n == name && s.first == wanted)
                return s.second;
        throw std::runtime_error("no sample of " + name);
    }

private:
    [[noreturn]] void fail(std::string const& what) const {
        throw std::runtime_error(what + ": " + std::string(line_));
    }
    bool take(std::string_view words) {
        if (!line_.starts_with(words))
            return false;
        line_.remove_prefix(words.size());
        return true;
    }
    std::string name(bool may_have_colon) {
        std::size_t n = 0;
        auto const is_letter = [&](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (may_have_colon && c == ':');
        };
        while (n != line_.size() && (is_letter(line_[n]) || (n != 0 && line_[n] >= '0' && line_[n] <= '9')))
            ++n;
        if (n == 0)
            fail("a name is missing");
        std::string found(line_.substr(0, n));
        line_.remove_prefix(n);
        return found;
    }
    void comment() {
        bool const is_help = take("# HELP ");
        if (!is_help && !take("# TYPE "))
            fail("neither HELP nor TYPE");
        auto const which = name(true);
        if (!take(" "))
            fail("no space behind the name");
        if (is_help) {
            if (!families.emplace(which, family{.kind = "", .help = std::string(line_), .samples = {}}).second)
                fail("a second HELP, or one behind TYPE");
            return;
        }
        auto& f = families[which];
        if (!f.kind.empty())
            fail("a second TYPE");
        f.kind = line_;
        if (!std::set<std::string>{"counter", "gauge", "histogram"}.contains(f.kind))
            fail("no such type");
        current_ = which;
    }
    std::string quoted() {
        std::string value;
        if (!take("\""))
            fail("no quote");
        while (!take("\"")) {
            if (line_.empty())
                fail("no second quote");
            if (take("\\\\"))
                value += '\\';
            else if (take("\\\""))
                value += '"';
            else if (take("\\n"))
                value += '\n';
            else if (line_[0] == '\\')
                fail("no such escape");
            else {
                value += line_[0];
                line_.remove_prefix(1);
            }
        }
        return value;
    }
    void sample() {
        auto const which = name(true);
        if (!which.starts_with(current_))
            fail("a sample outside of its group");
        auto const suffix = which.substr(current_.size());
        bool const is_histogram = families[current_].kind == "histogram";
        if (is_histogram ? suffix != "_bucket" && suffix != "_sum" && suffix != "_count" : !suffix.empty())
            fail("a sample that its type does not have");
        labels found;
        if (take("{")) {
            do {
                auto const label = name(false);
                if (!take("="))
                    fail("no = behind the label");
                if (!found.emplace(label, quoted()).second)
                    fail("a label twice");
            } while (take(","));
            if (!take("}"))
                fail("no } behind the labels");
        }
        if (!take(" "))
            fail("no space before the value");
        double value = 0;
        auto const [end, ec] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
        if (ec != std::errc() || end != line_.data() + line_.size())
            fail("no number");
        for (auto const& [n, s] : families[current_].samples)
            if (n == which && s.first == found)
                fail("a sample twice");
        families[current_].samples.push_back({which, {found, value}});
    }
    void check(std::string const& family_name, family const& f) const {
        if (f.kind.empty() || f.help.empty())
            throw std::runtime_error(family_name + " lacks TYPE or HELP");
        if (f.kind == "counter" && !family_name.ends_with("_total"))
            throw std::runtime_error(family_name + " is a counter without _total");
        if (f.kind != "histogram")
            return;
        std::map<labels, std::pair<double, double>> last; // bound and value
        std::set<labels> ended;
        for (auto const& [n, s] : f.samples) {
            auto of = s.first;
            if (n.ends_with("_bucket")) {
                auto const le = of.at("le");
                of.erase("le");
                double const bound = le == "+Inf" ? HUGE_VAL : std::strtod(le.c_str(), nullptr);
                if (last.contains(of) && (last[of].first >= bound || last[of].second > s.second))
                    throw std::runtime_error(family_name + ": buckets that do not ascend");
                last[of] = {bound, s.second};
            } else if (n.ends_with("_count")) {
                if (!last.contains(of) || last[of].first != HUGE_VAL || last[of].second != s.second)
                    throw std::runtime_error(family_name + ": +Inf and _count differ");
                ended.insert(of);
            }
        }
        if (ended.size() != last.size())
            throw std::runtime_error(family_name + ": a _count is missing");
    }

    std::string_view rest_, line_;
    std::string current_;
};

redis::client_statistics some_numbers() {
    redis::client_statistics s;
    s.events.attempts = 7;
    s.events.repeated = 2;
    s.traffic.bytes_read = 12'345'678'901;
    s.pending = 3;
    s.is_ready = true;
    redis::command_statistics get;
    get.command = "GET";
    get.by_outcome = {5, 1};
    get.by_latency[3] = 4;  // up to 8 us
    get.by_latency[25] = 2; // longer than all
    get.calls = 6;
    get.time = std::chrono::nanoseconds(40'000'000'125);
    get.bytes_sent = 100;
    get.bytes_received = 200;
    redis::command_statistics config = get;
    config.command = "CONFIG GET";
    config.by_latency[25] = 0;
    config.calls = 4;
    s.commands = {config, get};
    return s;
}

TEST(RedisPrometheus, TextIsReadBackByAStrictParser) {
    exposition const e(to_prometheus(some_numbers()));
    EXPECT_EQ(e.at("fairlead_redis_attempts_total", "fairlead_redis_attempts_total", {}), 7);
    EXPECT_EQ(e.at("fairlead_redis_repeated_total", "fairlead_redis_repeated_total", {}), 2);
    EXPECT_EQ(e.at("fairlead_redis_read_bytes_total", "fairlead_redis_read_bytes_total", {}), 12'345'678'901);
    EXPECT_EQ(e.at("fairlead_redis_ready", "fairlead_redis_ready", {}), 1);
    EXPECT_EQ(e.at("fairlead_redis_pending_requests", "fairlead_redis_pending_requests", {}), 3);

    std::string const h = "fairlead_redis_command_duration_seconds";
    EXPECT_EQ(e.at(h, h + "_count", {{"command", "GET"}}), 6);
    EXPECT_EQ(e.at(h, h + "_sum", {{"command", "GET"}}), 40.000000125);
    EXPECT_EQ(e.at(h, h + "_bucket", {{"command", "GET"}, {"le", "0.000004"}}), 0);
    EXPECT_EQ(e.at(h, h + "_bucket", {{"command", "GET"}, {"le", "0.000008"}}), 4);
    EXPECT_EQ(e.at(h, h + "_bucket", {{"command", "GET"}, {"le", "16.777216"}}), 4);
    EXPECT_EQ(e.at(h, h + "_bucket", {{"command", "GET"}, {"le", "+Inf"}}), 6);
    EXPECT_EQ(e.at(h, h + "_bucket", {{"command", "CONFIG GET"}, {"le", "0.000008"}}), 4);
    EXPECT_THROW(e.at(h, h + "_bucket", {{"command", "CONFIG GET"}, {"le", "0.000016"}}), std::runtime_error);

    std::string const errors = "fairlead_redis_command_errors_total";
    EXPECT_EQ(e.at(errors, errors, {{"command", "GET"}, {"error", "refused_by_server"}}), 1);
    EXPECT_THROW(e.at(errors, errors, {{"command", "GET"}, {"error", "timed_out"}}), std::runtime_error);
    std::string const sent = "fairlead_redis_command_sent_bytes_total";
    EXPECT_EQ(e.at(sent, sent, {{"command", "GET"}}), 100);
}

TEST(RedisPrometheus, ClientsAreToldApartByNamesOfAnyText) {
    auto const numbers = some_numbers();
    redis::client_statistics const none;
    std::string const odd = "a \"name\"\\ of\ntwo lines, {x=\"y\"}";
    redis::named_statistics const both[] = {{odd, &numbers}, {"", &none}};
    exposition const e(redis::to_prometheus(both));
    EXPECT_EQ(e.at("fairlead_redis_attempts_total", "fairlead_redis_attempts_total", {{"client", odd}}), 7);
    EXPECT_EQ(e.at("fairlead_redis_attempts_total", "fairlead_redis_attempts_total", {{"client", ""}}), 0);
    std::string const h = "fairlead_redis_command_duration_seconds";
    EXPECT_EQ(e.at(h, h + "_count", {{"client", odd}, {"command", "GET"}}), 6);
}

TEST(RedisPrometheus, WithoutStatisticsThereAreNoCommands) {
    exposition const e(to_prometheus(redis::client_statistics()));
    EXPECT_FALSE(e.families.contains("fairlead_redis_command_duration_seconds"));
    EXPECT_EQ(e.at("fairlead_redis_lost_total", "fairlead_redis_lost_total", {}), 0);
}

TEST(RedisPrometheus, ParserRefusesWhatIsWrong) {
    std::string const head = "# HELP a_total x\n# TYPE a_total counter\n";
    EXPECT_NO_THROW(exposition(head + "a_total{l=\"v\"} 1\n"));
    for (auto const* bad : {"a_total 1", "a_total{l=v} 1\n", "a_total{l=\"v} 1\n", "a_total{l=\"\\x\"} 1\n", "b 1\n",
                            "a_total x\n", "a_total  1\n", "a_total 1\na_total 1\n", "a_total{l=\"v\",} 1\n"})
        EXPECT_THROW(exposition(head + bad), std::runtime_error) << bad;
    EXPECT_THROW(exposition("a_total 1\n"), std::runtime_error);
}

} // namespace
} // namespace fairlead::test
