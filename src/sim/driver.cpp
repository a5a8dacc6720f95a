#include "driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace fairlead::sim {
namespace {

io::outcome failed(int e) noexcept { return {e, 0}; }

class sim_driver final : public io::reactor, public io::descriptors, public io::host, public io::driver {
public:
    sim_driver(network& n, host_state& m) noexcept : driver(*this, *this, *this), network_(n), host_(m) {}

    void attach(loop& l) noexcept override { loop_ = &l; }

    // ---- asynchronous verbs
    bool has_threads() const noexcept override { return false; }
    void submit(io::io_op& o) noexcept override { network_.submit(host_, o); }
    bool ready(io::handle h, io::kind k, std::size_t size) noexcept override {
        endpoint* const e = find(h);
        return e && network_.ready(*e, k, size);
    }
    bool try_now(io::io_op& o) noexcept override {
        endpoint* const e = find(o.handle);
        return e && network_.try_now(*e, o);
    }
    bool cancel(io::io_op& o) noexcept override {
        endpoint* const e = find(o.handle);
        return e && network_.cancel(*e, o);
    }
    bool cancel(io::handle h, void* ticket) noexcept override {
        endpoint* const e = find(h);
        return e && network_.cancel(*e, ticket);
    }
    void cancel_marked() noexcept override { network_.cancel_marked(host_); }
    std::size_t cancel_all(io::handle h) noexcept override {
        endpoint* const e = find(h);
        return e ? network_.cancel_all(*e) : 0;
    }
    void poll(std::int64_t until_ns) noexcept override { network_.poll(host_, until_ns); }
    std::size_t pending() const noexcept override { return host_.pending + host_.signals.waits(); }
    void arrange(op_queue& q) noexcept override { network_.arrange(host_, q); }
    /// Of the reactor and of the host.
    void take_pending(op_queue& into) noexcept override {
        network_.take_pending(host_, into);
        host_.signals.take_pending(into);
    }

    void wake() noexcept override {} // One thread: whoever could wake the loop is running in it.
    std::int64_t now_ns() noexcept override { return host_.clock.steady_ns(network_.now_ns()); }
    std::int64_t wall_ns() noexcept override { return host_.clock.wall_ns(network_.now_ns()); }

    void resolve(io::resolve_op& o) noexcept override { network_.resolve(host_, o); }
    void cancel_resolve(io::resolve_op& o) noexcept override { network_.cancel_resolve(o); }
    void resolve_blocking(io::resolve_op& o) noexcept override { network_.look_up(host_, o); }

    // ---- signals
    io::outcome open_signals(io::signal_source*& source) noexcept override {
        source = host_.signals.open(*loop_);
        return failed(source ? 0 : ENOMEM);
    }
    io::outcome add_signal(io::signal_source& s, int number, int flags) noexcept override {
        return failed(host_.signals.add(static_cast<signal_source&>(s), number, flags));
    }
    void wait_signal(io::signal_source& s, io::signal_op& o) noexcept override {
        host_.signals.wait(static_cast<signal_source&>(s), o);
    }
    bool cancel_signal(io::signal_op& o) noexcept override { return host_.signals.cancel(o); }
    std::size_t cancel_signals(io::signal_source& s) noexcept override {
        return host_.signals.cancel_all(static_cast<signal_source&>(s));
    }

    // ---- synchronous doors
    io::outcome open(int family, int type, int, io::handle& h) noexcept override {
        return failed(network_.open(host_, family, type, h));
    }
    io::outcome pair(int family, int type, int, io::handle& a, io::handle& b) noexcept override {
        return failed(network_.pair(host_, family, type, a, b));
    }
    io::outcome pipe(io::handle& reads, io::handle& writes) noexcept override {
        return failed(network_.pipe(host_, reads, writes));
    }
    io::outcome adopt(int number, io::handle& h) noexcept override { return failed(network_.adopt(host_, number, h)); }
    io::outcome release(io::handle h) noexcept override {
        endpoint* const e = find(h);
        return e ? io::outcome{0, network_.release(*e)} : failed(EBADF);
    }
    void discard(int number) noexcept override { network_.discard(host_, number); }
    io::outcome close(io::handle h) noexcept override {
        return on(h, [&](endpoint& e) {
            network_.close(e);
            return 0;
        });
    }
    io::outcome bind(io::handle h, void const* address, std::size_t size) noexcept override {
        return on_socket(h, [&](endpoint& e) { return network_.bind(e, address, size); });
    }
    io::outcome listen(io::handle h, int backlog) noexcept override {
        return on_socket(h, [&](endpoint& e) { return network_.listen(e, backlog); });
    }
    io::outcome shutdown(io::handle h, int how) noexcept override {
        return on_socket(h, [&](endpoint& e) { return network_.shutdown(e, how); });
    }
    io::outcome set_option(io::handle h, int level, int key, void const* data, std::size_t size) noexcept override {
        return on_socket(h, [&](endpoint& e) { return network_.set_option(e, level, key, data, size); });
    }
    io::outcome get_option(io::handle h, int level, int key, void* data, std::size_t size) noexcept override {
        endpoint* const e = find(h);
        if (!e || e->is_pipe())
            return failed(e ? ENOTSOCK : EBADF);
        return {0, static_cast<std::int64_t>(network_.get_option(*e, level, key, data, size))};
    }
    io::outcome address(io::handle h, io::name_of which, void* data, std::size_t capacity) noexcept override {
        endpoint* const e = find(h);
        if (!e || e->is_pipe())
            return failed(e ? ENOTSOCK : EBADF);
        if (which == io::name_of::peer && (e->stage != stage::connected || e->broken || e->is_over()))
            return failed(ENOTCONN);
        sim::name const& n = which == io::name_of::local ? e->local : e->remote;
        std::memcpy(data, n.bytes, std::min<std::size_t>(capacity, n.size));
        return {0, n.size};
    }
    io::outcome available(io::handle h) noexcept override {
        endpoint* const e = find(h);
        if (!e)
            return failed(EBADF);
        return {0, static_cast<std::int64_t>(network_.available(*e))};
    }
    io::outcome control(io::handle h, unsigned long command, void* data) noexcept override {
        endpoint* const e = find(h);
        if (command != FIONREAD && command != SIOCOUTQ)
            return failed(EOPNOTSUPP);
        if (!e)
            return failed(EBADF);
        int const n = static_cast<int>(command == FIONREAD ? network_.available(*e) : network_.unacknowledged(*e));
        std::memcpy(data, &n, sizeof n);
        return {0, n};
    }
    int native(io::handle) noexcept override { return -1; }
    void perform(io::io_op& o, bool may_wait) noexcept override { network_.perform(o, may_wait); }
    bool sleep_until(std::int64_t) noexcept override { return false; }
    io::outcome host_name(char* into, std::size_t capacity) noexcept override {
        if (capacity <= host_.name.size())
            return failed(ENAMETOOLONG);
        into[host_.name.copy(into, capacity)] = '\0';
        return failed(0);
    }

private:
    /// Null: nobody has it, or it is no descriptor of this loop any more.
    endpoint* find(io::handle h) noexcept {
        endpoint* const e = network_.find(h);
        return e && !e->is_released ? e : nullptr;
    }
    template <class F> io::outcome on(io::handle h, F call) noexcept {
        endpoint* const e = find(h);
        return failed(e ? call(*e) : EBADF);
    }
    template <class F> io::outcome on_socket(io::handle h, F call) noexcept {
        return on(h, [&](endpoint& e) { return e.is_pipe() ? ENOTSOCK : call(e); });
    }

    network& network_;
    host_state& host_;
    loop* loop_ = nullptr;
};

} // namespace

fairlead::impl::base::owned<io::driver> make_driver(network& n, host_state& m) {
    return fairlead::impl::base::owned<io::driver>(new sim_driver(n, m));
}

} // namespace fairlead::sim
