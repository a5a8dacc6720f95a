#pragma once

#include <asio/detail/config.hpp>

namespace fairlead::detail {

/// Holds a mutex while it lives, but for what is between unlock() and lock().
template <class Mutex> class scoped_lock {
public:
    enum adopt_lock_t { adopt_lock };

    explicit scoped_lock(Mutex& m) : mutex_(m), locked_(true) { mutex_.lock(); }
    /// Of a mutex that is held already.
    scoped_lock(Mutex& m, adopt_lock_t) : mutex_(m), locked_(true) {}
    scoped_lock(scoped_lock const&) = delete;
    scoped_lock& operator=(scoped_lock const&) = delete;
    ~scoped_lock() { unlock(); }

    void lock() {
        if (!locked_)
            mutex_.lock();
        locked_ = true;
    }
    void unlock() {
        if (locked_)
            mutex_.unlock();
        locked_ = false;
    }
    bool locked() const { return locked_; }
    Mutex& mutex() { return mutex_; }

private:
    Mutex& mutex_;
    bool locked_;
};

} // namespace fairlead::detail
