#pragma once

#include <asio/detail/config.hpp>

#include <csignal>

namespace fairlead::detail {

/// No signal reaches this thread, nor those that it starts, while an object of this type lives.
class signal_blocker {
public:
    signal_blocker() noexcept { block(); }
    signal_blocker(signal_blocker const&) = delete;
    signal_blocker& operator=(signal_blocker const&) = delete;
    ~signal_blocker() { unblock(); }

    void block() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        blocks_ = blocks_ || ::pthread_sigmask(SIG_BLOCK, &all, &before_) == 0;
    }
    void unblock() noexcept { blocks_ = blocks_ && ::pthread_sigmask(SIG_SETMASK, &before_, nullptr) != 0; }

private:
    bool blocks_ = false;
    sigset_t before_;
};

} // namespace fairlead::detail
