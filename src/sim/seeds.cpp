// Runs a test under many seeds, and makes a failure small. The only part of the simulator that looks at the real world:
// environment, processes, the clock.
#include <fairlead/sim/seeds.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace fairlead::sim::impl {
namespace {

std::string from_environment(char const* name) {
    char const* const text = std::getenv(name);
    return text ? text : "";
}

std::optional<std::uint64_t> number_from_environment(char const* name) {
    auto const text = from_environment(name);
    if (text.empty())
        return std::nullopt;
    std::uint64_t n = 0;
    auto const r = std::from_chars(text.data(), text.data() + text.size(), n);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size())
        throw std::invalid_argument(std::string(name) + " is \"" + text + "\"; expected a number");
    return n;
}

struct environment {
    std::optional<std::uint64_t> seed = number_from_environment("SIM_SEED");
    std::optional<std::uint64_t> count = number_from_environment("SIM_COUNT");
    std::uint64_t jobs = number_from_environment("SIM_JOBS").value_or(1);
    bool check = number_from_environment("SIM_CHECK").value_or(0) != 0;
    bool shrink = number_from_environment("SIM_SHRINK").value_or(1) != 0;
    std::string settings = from_environment("SIM_SETTINGS");
};

double real_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add(counters& to, counters const& c) noexcept {
    to.turns += c.turns;
    to.events += c.events;
    to.sent += c.sent;
    to.received += c.received;
    to.connected += c.connected;
    to.refused += c.refused;
    to.resets += c.resets;
    to.faults += c.faults;
    for (std::size_t i = 0; i != rules; ++i)
        to.injected[i] += c.injected[i];
}

// ---- one run

struct outcome {
    bool failed = false;
    std::string why;
    std::string description;
    std::string events;
    std::uint64_t digest = 0;
    counters counts{};
    double simulated = 0;
    std::exception_ptr foreign; ///< the framework's own, which only the framework understands
};

outcome run_one(seeds_test const& t, std::uint64_t seed, std::string const& settings) {
    outcome o;
    int const before = t.failures();
    world w(seed, settings);
    try {
        t.call(t.body, w);
        o.failed = t.failures() != before;
        o.why = "the test's expectations above";
    } catch (std::exception const& e) {
        o.failed = true;
        o.why = e.what();
    } catch (...) {
        o.failed = true;
        o.why = "the test's requirement";
        o.foreign = std::current_exception();
    }
    if (o.failed) {
        o.description = w.description();
        o.events = w.last_events();
    }
    o.digest = w.digest();
    o.counts = w.counts();
    o.simulated = std::chrono::duration<double>(w.elapsed()).count();
    return o;
}

// ---- a run that dies takes the report with it, so that at least its seed is said

char dying_words[512];

void say_dying_words() { [[maybe_unused]] auto const n = ::write(2, dying_words, std::strlen(dying_words)); }
void on_deadly_signal(int number) {
    say_dying_words();
    ::signal(number, SIG_DFL);
    ::raise(number);
}

class last_words {
public:
    last_words() {
        if (__sanitizer_set_death_callback)
            __sanitizer_set_death_callback(&say_dying_words);
        for (auto& [number, before] : before_)
            if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
                ::signal(number, &on_deadly_signal);
    }
    last_words(last_words const&) = delete;
    last_words& operator=(last_words const&) = delete;
    ~last_words() {
        dying_words[0] = 0;
        for (auto& [number, before] : before_)
            ::sigaction(number, &before, nullptr);
    }
    void set(std::string const& command) {
        auto const text = "\nsimulated world: it died. To replay: " + command + '\n';
        std::snprintf(dying_words, sizeof dying_words, "%s", text.c_str());
    }

private:
    std::pair<int, struct sigaction> before_[5] = {
        {SIGABRT, {}}, {SIGSEGV, {}}, {SIGBUS, {}}, {SIGFPE, {}}, {SIGILL, {}}};
};

// ---- other processes

/// Runs f(descriptor to write to) in a process of its own, which says nothing but what it writes there.
struct child {
    ::pid_t pid = -1;
    int from = -1;
};

template <class F> child start(F f) {
    int ends[2];
    if (::pipe(ends) != 0)
        return {};
    std::fflush(nullptr);
    auto const pid = ::fork();
    if (pid == 0) {
        ::close(ends[0]);
        int const nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, 1);
        ::dup2(nowhere, 2);
        f(ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    if (pid < 0)
        ::close(ends[0]);
    return {pid, pid < 0 ? -1 : ends[0]};
}

void write_all(int to, void const* data, std::size_t n) {
    auto const* at = static_cast<char const*>(data);
    while (n != 0) {
        auto const r = ::write(to, at, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return;
        at += r;
        n -= static_cast<std::size_t>(r);
    }
}

std::string read_all(child const& c) {
    std::string text;
    char piece[4096];
    for (;;) {
        auto const r = ::read(c.from, piece, sizeof piece);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        text.append(piece, static_cast<std::size_t>(r));
    }
    ::close(c.from);
    int status = 0;
    while (::waitpid(c.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return text;
}

// ---- shrinking

std::string with(std::string const& settings, std::string const& more) {
    return settings.empty() ? more : settings + ',' + more;
}

/// Looks for a setting with which the seed still fails, and with which less happens.
class shrinker {
public:
    shrinker(seeds_test const& t, std::uint64_t seed, std::string base)
        : test_(t),
          seed_(seed),
          settings_(std::move(base)) {}

    /// Nothing: the failure does not repeat in another process.
    std::optional<std::string> run(outcome const& original) {
        if (!fails(settings_))
            return std::nullopt;
        bool const needs_faults = original.counts.faults != 0 && !limit("faults", original.counts.faults);
        for (std::size_t i = 0; i != rules; ++i)
            if (needs_faults && original.counts.injected[i] != 0)
                keep_if_it_fails(std::string(name_of(static_cast<rule>(i))) + "=0");
        for (auto const& [name, value] : choices(original.description))
            limit(name, value);
        return settings_;
    }
    /// The report of the smallest failing run.
    std::string const& events() const noexcept { return events_; }
    std::string const& why() const noexcept { return why_; }
    unsigned runs() const noexcept { return runs_; }

private:
    static constexpr unsigned runs_most = 300;
    static constexpr double seconds_most = 20;

    static std::vector<std::pair<std::string, std::uint64_t>> choices(std::string_view description) {
        std::vector<std::pair<std::string, std::uint64_t>> found;
        constexpr std::string_view mark = "chosen:";
        auto at = description.find(mark);
        if (at == description.npos)
            return found;
        description = description.substr(at + mark.size());
        description = description.substr(0, description.find('\n'));
        while (!description.empty()) {
            auto const word = description.substr(0, description.find(' '));
            description.remove_prefix(std::min(word.size() + 1, description.size()));
            if (auto const equals = word.find('='); equals != word.npos)
                found.emplace_back(word.substr(0, equals), std::strtoull(word.data() + equals + 1, nullptr, 10));
        }
        return found;
    }

    bool fails(std::string const& settings) {
        if (runs_ >= runs_most || real_seconds() - begun_ > seconds_most)
            return false;
        ++runs_;
        auto const c = start([&](int to) {
            ::alarm(10);
            auto const o = run_one(test_, seed_, settings);
            auto const text = (o.failed ? "1" : "0") + o.why + '\0' + o.events;
            write_all(to, text.data(), text.size());
        });
        if (c.pid < 0)
            return false;
        auto const text = read_all(c);
        if (!text.empty() && text[0] != '1')
            return false;
        // A process that says nothing has died of it.
        auto const end_of_why = text.find('\0');
        why_ = text.empty() ? "it died" : text.substr(1, end_of_why - 1);
        events_ = end_of_why == text.npos ? "" : text.substr(end_of_why + 1);
        return true;
    }
    bool keep_if_it_fails(std::string const& more) {
        auto const tried = with(settings_, more);
        auto const why = why_, events = events_;
        if (fails(tried)) {
            settings_ = tried;
            return true;
        }
        why_ = why;
        events_ = events;
        return false;
    }
    /// The smallest value with which it fails, as far as halving finds it. True: that is 0.
    bool limit(std::string const& name, std::uint64_t value) {
        auto const base = settings_;
        auto const attempt = [&](std::uint64_t v) {
            settings_ = base;
            return keep_if_it_fails(name + '=' + std::to_string(v));
        };
        if (value == 0 || attempt(0))
            return true;
        std::uint64_t passes = 0, known = value;
        while (known - passes > 1) {
            auto const middle = passes + (known - passes) / 2;
            (attempt(middle) ? known : passes) = middle;
        }
        settings_ = base;
        if (known != value || name == "faults") // With less of something else there could be more faults.
            keep_if_it_fails(name + '=' + std::to_string(known));
        return false;
    }

    seeds_test const& test_;
    std::uint64_t seed_;
    std::string settings_;
    std::string why_, events_;
    unsigned runs_ = 0;
    double begun_ = real_seconds();
};

// ---- the report

std::string last(std::string_view lines, std::size_t most) {
    auto at = lines.size();
    for (std::size_t n = 0; at != 0 && n <= most; ++n)
        at = lines.rfind('\n', at - 1) == lines.npos ? 0 : lines.rfind('\n', at - 1);
    return std::string(lines.substr(at == 0 ? 0 : at + 1));
}

/// The arguments of this program, for tests that no framework selects.
std::string arguments() {
    int const from = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    char bytes[1024];
    auto const n = from < 0 ? 0 : ::read(from, bytes, sizeof bytes);
    if (from >= 0)
        ::close(from);
    std::string text(bytes, n > 0 ? static_cast<std::size_t>(n) : 0);
    text.erase(0, std::min(text.find('\0'), text.size()));
    std::replace(text.begin(), text.end(), '\0', ' ');
    text.erase(0, text.find_first_not_of(' '));
    return text;
}

std::string command(seeds_test const& t, std::uint64_t seed, std::string const& settings) {
    auto const selection = t.selection();
    return "SIM_SEED=" + std::to_string(seed) + (settings.empty() ? "" : " SIM_SETTINGS=" + settings) + ' ' +
           program_invocation_name + ' ' + (selection.empty() ? arguments() : selection);
}

[[noreturn]] void report(seeds_test const& t, environment const& env, std::uint64_t seed, std::uint64_t tried,
                         outcome const& o) {
    constexpr std::size_t events_most = 40;
    std::string text = "seed " + std::to_string(seed) + " failed, number " + std::to_string(tried) + ": " + o.why +
                       "\nafter " + std::to_string(o.simulated) + " s of simulated time, " +
                       std::to_string(o.counts.events) + " events and " + std::to_string(o.counts.faults) +
                       " faults\n" + o.description + '\n';
    auto smaller = env.settings;
    std::string events = o.events;
    if (env.shrink && env.settings.empty()) {
        shrinker s(t, seed, env.settings);
        auto const found = s.run(o);
        if (!found) {
            text += "It does not fail again in another process: something outside the world decides.\n";
        } else if (*found != env.settings) {
            smaller = *found;
            events = s.events();
            text += "it still fails with less, found in " + std::to_string(s.runs()) + " runs: " + smaller + '\n';
            if (s.why() != o.why)
                text += "then with: " + s.why() + '\n';
        }
    }
    text += "last events" + std::string(smaller == env.settings ? "" : " of the smaller run") + ":\n" +
            last(events, events_most) + "to replay: " + command(t, seed, smaller) + '\n';
    if (o.foreign) {
        std::fputs(("simulated world: " + text).c_str(), stderr);
        std::rethrow_exception(o.foreign);
    }
    throw seed_failure(seed, text);
}

void say(seeds_summary const& s) {
    auto const real = std::max(s.seconds, 1e-9);
    std::printf(
        "[ sim ] %llu seeds in %.2f s (%.0f/s), %llu events (%.1f M/s), %llu faults, %.1f s simulated (%.0f x real "
        "time)\n",
        static_cast<unsigned long long>(s.seeds), s.seconds, static_cast<double>(s.seeds) / real,
        static_cast<unsigned long long>(s.counts.events), static_cast<double>(s.counts.events) / real / 1e6,
        static_cast<unsigned long long>(s.counts.faults), s.simulated_seconds, s.simulated_seconds / real);
}

/// Seeds first, first + step, … below end.
struct range {
    std::uint64_t first, end, step;
};

/// Runs them until one fails: its number, and nothing is reported yet.
std::optional<std::uint64_t> run_range(seeds_test const& t, environment const& env, range const& r, seeds_summary& sum,
                                       last_words& words, bool report_here) {
    for (auto seed = r.first; seed < r.end; seed += r.step) {
        words.set(command(t, seed, env.settings));
        auto const o = run_one(t, seed, env.settings);
        ++sum.seeds;
        add(sum.counts, o.counts);
        sum.simulated_seconds += o.simulated;
        if (o.failed) {
            if (report_here)
                report(t, env, seed, (seed - t.first) + 1, o);
            return seed;
        }
        if (env.check && run_one(t, seed, env.settings).digest != o.digest) {
            if (!report_here)
                return seed;
            throw seed_failure(
                seed, "seed " + std::to_string(seed) +
                          ": two runs differ; something outside the world decides (addresses, hash "
                          "order, a real clock, state that the first run left behind)\nto replay: SIM_CHECK=1 " +
                          command(t, seed, env.settings));
        }
    }
    return std::nullopt;
}

struct job_result {
    std::uint64_t failed_seed;
    bool failed;
    seeds_summary sum;
};

} // namespace

seeds_summary run_seeds(seeds_test const& t) {
    environment const env;
    auto const begun = real_seconds();
    seeds_summary sum;
    last_words words;
    range all{t.first, t.first + env.count.value_or(t.count), 1};
    if (env.seed)
        all = {*env.seed, *env.seed + 1, 1};
    auto const jobs = std::min(env.jobs, all.end - all.first);
    if (jobs > 1) {
        std::vector<child> children;
        for (std::uint64_t j = 0; j != jobs; ++j)
            children.push_back(start([&](int to) {
                job_result r{};
                auto const failed = run_range(t, env, {all.first + j, all.end, jobs}, r.sum, words, false);
                r.failed = failed.has_value();
                r.failed_seed = failed.value_or(0);
                write_all(to, &r, sizeof r);
            }));
        std::optional<std::uint64_t> first_failed;
        bool died = false;
        for (auto const& c : children) {
            auto const text = c.pid < 0 ? std::string() : read_all(c);
            job_result r{};
            if (text.size() != sizeof r) {
                died = true;
                continue;
            }
            std::memcpy(&r, text.data(), sizeof r);
            if (r.failed && (!first_failed || r.failed_seed < *first_failed))
                first_failed = r.failed_seed;
            sum.seeds += r.sum.seeds;
            add(sum.counts, r.sum.counts);
            sum.simulated_seconds += r.sum.simulated_seconds;
        }
        if (first_failed) {
            run_range(t, env, {*first_failed, *first_failed + 1, 1}, sum, words, true);
            throw seed_failure(*first_failed, "seed " + std::to_string(*first_failed) +
                                                  " failed in another process, but not here: something outside the "
                                                  "world decides");
        }
        if (died) // Where it can be seen.
            run_range(t, env, all, sum, words, true);
    } else {
        run_range(t, env, all, sum, words, true);
    }
    sum.seconds = real_seconds() - begun;
    if (sum.seeds > 1)
        say(sum);
    return sum;
}

} // namespace fairlead::sim::impl
