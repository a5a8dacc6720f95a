#include <fairlead/io/io_loop_for.hpp>

#include <fairlead/base/error.hpp>
#include <fairlead/io/io_context.hpp>

#include <limits>
#include <memory>
#include <thread>

namespace fairlead::io::impl {
namespace {

/// Performs the I/O of a context whose threads run no loop of ours. Handlers do not run here: they are handed to their
/// executors.
class background_io final : public execution_context::service {
public:
    explicit background_io(execution_context& c)
        : service(c),
          loop_(io_loop::make(c, io::make_driver(fairlead::impl::exec::service_access::memory_of(c)))),
          work_(*loop_) {
        loop_->has_own_thread();
        thread_ = running();
    }
    ~background_io() override { end(); }
    io_loop& loop() noexcept { return *loop_; }

private:
    void shutdown() override {
        end();
        loop_->retire();
    }
    void end() noexcept {
        if (!thread_.joinable())
            return;
        loop_->stop();
        thread_.join();
    }
    void notify_fork(execution_context::fork_event event) override {
        if (auto const r = loop_->notify_fork(event); r.error)
            fairlead::impl::base::throw_error({r.error, error::get_system_category()}, "notify_fork");
        if (event == execution_context::fork_prepare) {
            end(); // A thread would not be there in the child.
        } else {
            loop_->restart();
            thread_ = running();
        }
    }

    struct keep_running {
        io_loop& l;
        explicit keep_running(io_loop& of) noexcept : l(of) { l.work_started(); }
        ~keep_running() { l.work_finished(); }
    };

    struct release {
        void operator()(io_loop* l) const noexcept { l->release(); }
    };
    std::thread running() {
        return std::thread([l = loop_.get()] { l->run_until_ns(std::numeric_limits<std::size_t>::max(), -1); });
    }

    std::unique_ptr<io_loop, release> loop_;
    keep_running work_;
    std::thread thread_;
};

} // namespace

io_loop_ref io_loop_of_context(execution_context& c) {
    if (auto* const context = dynamic_cast<io_context*>(&c))
        return io_loop_ref(context->as_loop());
    if (loop* const l = fairlead::impl::exec::this_thread.current; l && !io_loop::of(*l).host().has_threads())
        fairlead::impl::base::throw_error_now(
            error::make_error_code(error::operation_not_supported),
            "I/O object: a simulated world has no threads; use the executor of its io_context");
    return io_loop_ref(use_service<background_io>(c).loop());
}

} // namespace fairlead::io::impl
