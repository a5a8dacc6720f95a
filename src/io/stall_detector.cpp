#include <fairlead/io/stall_detector.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/exec/function_names.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/io_loop_for.hpp>

#include <io/run_watch.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>
#include <unwind.h>

namespace fairlead {
namespace {

using namespace std::chrono_literals;
using io::impl::run_watch;
using io::impl::thread_question;

void report_to_standard_error(stall const& s) { std::fputs(to_string(s).c_str(), stderr); }

void refuse(error::basic_errors e) { impl::base::throw_error_now(error::make_error_code(e), "stall_detector"); }

/// The action of a signal and what called it.
constexpr std::size_t frames_of_signal = 2;

/// Behind a call, so its last byte is asked for.
void const* call_before(void* return_address) noexcept { return static_cast<char const*>(return_address) - 1; }

/// Of the call that the innermost of those functions made that run items. The innermost of all if there is none.
std::size_t index_of_item(std::span<void* const> stack) noexcept {
    auto const runs_items = run_watch::callers_of_items();
    for (std::size_t i = 1; i < stack.size(); ++i)
        if (std::ranges::find(runs_items, ::_Unwind_FindEnclosingFunction(stack[i])) != runs_items.end())
            return i - 1;
    return 0;
}

/// Functions that a compiler which optimises does not call.
bool is_on_the_way(std::string const& name) noexcept {
    return name.find("fairlead::loop::") != name.npos || name.find("coroutine_handle<void>") != name.npos;
}

stall described(std::span<void* const> stack, std::int64_t lasted_ns, long thread) {
    stack = stack.subspan(std::min(frames_of_signal, stack.size()));
    stall s{{}, std::chrono::nanoseconds(lasted_ns), thread, {}};
    impl::exec::function_names names;
    std::vector<std::string> functions;
    for (auto* const address : stack) {
        // The innermost was interrupted, and has not called anything.
        auto const* const code = address == stack.front() ? address : call_before(address);
        functions.push_back(names.of(code));
        s.stack += "  " + functions.back() + "  " + impl::exec::function_names::place_of(code) + '\n';
    }
    auto item = index_of_item(stack);
    while (item > 0 && is_on_the_way(functions[item]))
        --item;
    if (!functions.empty())
        s.running = functions[item];
    return s;
}

} // namespace

std::string to_string(stall const& s) {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(s.lasted).count();
    return s.running + " has kept a loop for " + std::to_string(ms) + " ms, in thread " + std::to_string(s.thread) +
           '\n' + s.stack;
}

class stall_detector::watcher {
public:
    watcher(io_context& c, stall_options&& o) : loop_(c.as_loop()), options_(std::move(o)), question_(options_.signal) {
        watch_.emplace(*loop_, options_.limit.count());
        thread_ = running();
    }
    ~watcher() {
        {
            std::lock_guard const lock(mutex_);
            is_over_ = true;
        }
        ends_.notify_one();
        thread_.join();
    }
    /// False: this is the child of a fork, where its thread is not.
    bool is_of_this_process() const noexcept { return process_ == ::getpid(); }
    void stop_watching() noexcept { watch_.reset(); }

private:
    /// Signals of the program are not for this thread.
    std::thread running() {
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        impl::base::at_scope_end const restore([&before] { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); });
        return std::thread([this] { run(); });
    }
    void run() {
        std::unique_lock lock(mutex_);
        while (!ends_.wait_for(lock, options_.limit / 2, [this] { return is_over_; })) {
            lock.unlock();
            look();
            lock.lock();
        }
    }
    /// Reports are made and given while no thread of the loop is held up.
    void look() {
        struct found {
            std::vector<void*> stack;
            std::int64_t lasted_ns;
            long thread;
        };
        std::vector<found> all;
        {
            std::lock_guard const lock(run_watch::mutex());
            for (auto& t : watch_->threads())
                if (t.is_inside_handler() && is_to_be_asked(t))
                    if (auto const lasted = ask(t); lasted > 0)
                        all.push_back({stack_, lasted, t.number});
        }
        for (auto const& f : all)
            options_.report(described(f.stack, f.lasted_ns, f.thread));
    }
    /// One that does not answer may block the signal. It holds up those that enter run() or leave it, so it is asked
    /// less and less often.
    static bool is_to_be_asked(run_watch::watched_thread& t) noexcept {
        if (t.looks_left == 0)
            return true;
        --t.looks_left;
        return false;
    }
    static constexpr unsigned missed_most = 10;
    /// 0: nothing to be reported.
    std::int64_t ask(run_watch::watched_thread& t) {
        auto const first = question_.ask(t.handle, *loop_, false);
        t.missed = first ? 0 : std::min(t.missed + 1, missed_most);
        t.looks_left = first ? 0 : 1U << t.missed;
        if (!first || !first->at)
            return 0;
        auto const place = *first->at;
        auto const now = std::chrono::steady_clock::now().time_since_epoch();
        auto const lasted = t.judge.look(place, std::chrono::nanoseconds(now).count());
        if (!lasted)
            return 0;
        auto const again = question_.ask(t.handle, *loop_, true);
        if (!again || again->at != place)
            return 0; // It has just ended.
        stack_.assign(again->stack.begin(), again->stack.end());
        return *lasted;
    }

    io::impl::io_loop_ref loop_;
    stall_options options_;
    thread_question question_;
    std::optional<run_watch> watch_;
    pid_t const process_ = ::getpid();
    std::vector<void*> stack_;
    std::mutex mutex_;
    std::condition_variable ends_;
    bool is_over_ = false;
    std::thread thread_;
};

stall_detector::stall_detector(io_context& watched, stall_options options) {
    if (options.limit < 1ms)
        refuse(error::invalid_argument);
    if (!watched.as_loop().host().has_threads())
        refuse(error::operation_not_supported);
    if (options.signal == 0)
        options.signal = SIGRTMAX - 1;
    if (!options.report)
        options.report = &report_to_standard_error;
    watcher_ = std::make_unique<watcher>(watched, std::move(options));
}

stall_detector::~stall_detector() {
    if (watcher_->is_of_this_process())
        return;
    watcher_->stop_watching();
    (void)watcher_.release(); // A thread waits for its condition variable, and does not exist.
}

} // namespace fairlead
