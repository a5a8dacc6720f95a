#include <fairlead/scope/dump_on_signal.hpp>

#include <fairlead/coro/tasks.hpp>
#include <fairlead/net/signal_set.hpp>

#include <cstdio>
#include <utility>

namespace fairlead {
namespace {

void write_to_standard_error(std::string const& text) { std::fputs(text.c_str(), stderr); }

} // namespace

class dump_on_signal::waiting {
public:
    waiting(io_context& c, int number, std::function<void(std::string const&)>&& write)
        : context_(c),
          signals_(c, number),
          write_(write ? std::move(write) : &write_to_standard_error) {}

    static void begin(std::shared_ptr<waiting> self) {
        auto& signals = self->signals_;
        signals.async_wait([self = std::move(self)](error_code ec, int) {
            if (ec || self->is_over_)
                return;
            self->write_("tasks, at a signal:\n" + dump(self->context_));
            begin(self);
        });
    }
    void end() {
        is_over_ = true;
        signals_.cancel();
    }

private:
    io_context& context_;
    signal_set signals_;
    std::function<void(std::string const&)> write_;
    bool is_over_ = false;
};

dump_on_signal::dump_on_signal(io_context& c, int number, std::function<void(std::string const&)> write) {
    list_tasks(c);
    waiting_ = std::make_shared<waiting>(c, number, std::move(write));
    waiting::begin(waiting_);
}

dump_on_signal::~dump_on_signal() { waiting_->end(); }

} // namespace fairlead
