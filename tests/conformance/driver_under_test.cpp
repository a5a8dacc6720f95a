#include "driver_under_test.hpp"

#include <fairlead/exec/executor.hpp>
#include <fairlead/sim/world.hpp>
#include <support/completions.hpp>
#include <support/deadline.hpp>
#include <support/scale.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <memory>

#include <unistd.h>

namespace fairlead::conformance {
namespace {

using namespace std::chrono_literals;

/// The computer's own sockets. An operation that takes longer than the patience is lost.
class kernel_world final : public world {
    static constexpr auto patience = 10s;

public:
    kernel_world(impl::base::owned<io::driver> d, char const* name) : context_(std::move(d)), name_(name) {}

    io_context& context() noexcept override { return context_; }
    std::string description() const override { return name_; }
    std::size_t run() override {
        context_.restart();
        auto const n = context_.run_for(patience);
        if (!context_.stopped())
            throw std::runtime_error("operations still wait after ten seconds");
        return n;
    }
    bool run_one() override { return context_.run_one_for(patience) != 0; }
    void settle() override {
        context_.restart();
        for (int quiet = 0; quiet != 5;) // more turns than a descriptor stays unverified
            quiet = context_.poll() == 0 ? quiet + 1 : 0;
    }
    void raise(int number) override { std::raise(number); }

private:
    io_context context_;
    char const* name_;
};

std::unique_ptr<world> make_epoll_world(std::uint64_t) {
    return std::make_unique<kernel_world>(io::make_driver(), "epoll");
}
/// One whose ops complete in poll() and nowhere else, and which is bound to its thread.
std::unique_ptr<world> make_completion_world(std::uint64_t) {
    static fairlead::test::completion_log log;
    return std::make_unique<kernel_world>(impl::base::owned<io::driver>(new fairlead::test::completion_driver(log)),
                                          "completions");
}
std::uint64_t one_world() { return 1; }

class simulated_world final : public world {
public:
    explicit simulated_world(std::uint64_t seed) : world_(seed) {}

    io_context& context() noexcept override { return world_.context(); }
    std::string description() const override { return "sim, seed " + std::to_string(world_.seed()); }
    std::size_t run() override { return world_.run(); }
    bool run_one() override {
        // A deadline that would count as an event keeps time from standing still; nothing here takes so long.
        return world_.context().run_one_until(world_.now() + 1h) != 0;
    }
    void settle() override {
        // Longer than anything is on its way, shorter than the first repetition of a connect.
        auto const guard = make_work_guard(world_.context());
        world_.context().restart();
        world_.context().run_until(world_.now() + 500ms);
    }
    void raise(int number) override { world_.localhost().raise(number); }

private:
    sim::world world_;
};

std::unique_ptr<world> make_simulated_world(std::uint64_t seed) { return std::make_unique<simulated_world>(seed); }
std::uint64_t several_seeds() { return fairlead::test::scaled(8, 4); }

constexpr char const* transport_names[] = {"", "_tcp_v4", "_tcp_v6", "_unix", "_udp_v4", "_udp_v6", "_unix"};

} // namespace

std::vector<driver_under_test> const& drivers() {
    static std::vector<driver_under_test> const all = {
        {"epoll", one_world, make_epoll_world},
        {"completions", one_world, make_completion_world},
        {"sim", several_seeds, make_simulated_world},
    };
    return all;
}

void PrintTo(subject const& s, std::ostream* os) {
    *os << s.driver->name << transport_names[static_cast<std::size_t>(s.transport)];
}

std::string name_of(testing::TestParamInfo<subject> const& info) { return testing::PrintToString(info.param); }

std::vector<subject> every_driver_and(std::initializer_list<transport> transports) {
    std::vector<subject> all;
    for (auto const& d : drivers())
        for (auto const t : transports)
            all.push_back({&d, t});
    return all;
}
std::vector<subject> every_driver() { return every_driver_and({transport::none}); }
std::vector<subject> every_driver_and_stream() {
    return every_driver_and({transport::tcp_v4, transport::tcp_v6, transport::local});
}
std::vector<subject> every_driver_and_datagram() {
    return every_driver_and({transport::udp_v4, transport::udp_v6, transport::local_datagram});
}

// ---- differences.md

std::vector<difference> read_differences() {
    std::ifstream file(FAIRLEAD_SOURCE_DIR "/tests/conformance/differences.md");
    if (!file)
        throw std::runtime_error("tests/conformance/differences.md cannot be read");
    std::vector<difference> rows;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("| `"))
            continue; // prose, the head of the table
        std::array<std::string, 5> cell;
        std::size_t at = 1;
        for (auto& c : cell) {
            auto const end = line.find('|', at);
            if (end == line.npos)
                throw std::runtime_error("differences.md: a row needs five cells: " + line);
            c = line.substr(at, end - at);
            c.erase(0, c.find_first_not_of(' '));
            c.erase(c.find_last_not_of(' ') + 1);
            at = end + 1;
        }
        cell[0] = cell[0].substr(1, cell[0].size() - 2); // without the quotes
        rows.push_back({cell[0], cell[1], cell[2], cell[3], cell[4]});
    }
    return rows;
}

bool conformance_test::differs(std::string_view id) {
    static auto const rows = read_differences();
    auto const known = [&](difference const& d) { return d.id == id; };
    if (std::none_of(rows.begin(), rows.end(), known)) {
        ADD_FAILURE() << "no difference '" << id << "' is listed in differences.md";
        return false;
    }
    return std::any_of(rows.begin(), rows.end(),
                       [&](difference const& d) { return d.id == id && d.driver == GetParam().driver->name; });
}

// ---- what bodies are run by: not templates of them, or each test of this suite would compile it again

void conformance_test::each_world(std::function<void()> const& body) {
    for (std::uint64_t number = 1, end = GetParam().driver->worlds(); number <= end; ++number) {
        world_ = GetParam().driver->make(number);
        SCOPED_TRACE(world_->description());
        try {
            body();
        } catch (std::exception const& e) {
            ADD_FAILURE() << "an exception left the body: " << e.what();
        }
        world_.reset();
        if (HasFailure())
            return;
    }
}

void conformance_test::run_until(std::function<bool()> const& done) {
    test::waiting_for const w("a condition of the test (run_until)");
    context().restart();
    while (!done())
        if (!world_->run_one())
            throw std::runtime_error("nothing more happens, but the condition does not hold");
}

void conformance_test::spawn(std::function<awaitable<void>()> f) {
    co_spawn(context(), std::move(f), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
}

template <class Transport, class Socket> void conformance_test::connect(Transport const& t, Socket& near, Socket& far) {
    typename Transport::protocol::acceptor acceptor(context(), t.free_address());
    completion connected, accepted;
    near.async_connect(acceptor.local_endpoint(), connected.handler());
    acceptor.async_accept(far, accepted.handler());
    run();
    ASSERT_TRUE(connected.succeeded()) << connected.ec.message();
    ASSERT_TRUE(accepted.succeeded()) << accepted.ec.message();
    // Of a fixed size, or the system enlarges them whenever it likes.
    for (Socket* const s : {&near, &far}) {
        s->set_option(socket_base::send_buffer_size(100'000));
        s->set_option(socket_base::receive_buffer_size(100'000));
    }
}

template <class Transport, class Socket>
void conformance_test::over_connection(Transport const& t, std::function<void(Socket&, Socket&)> const& body) {
    Socket near(context()), far(context());
    connect(t, near, far);
    ASSERT_TRUE(near.is_open() && far.is_open());
    body(near, far);
}

template void conformance_test::connect(tcp_transport const&, ip::tcp::socket&, ip::tcp::socket&);
template void conformance_test::connect(local_transport const&, local::stream_protocol::socket&,
                                        local::stream_protocol::socket&);
template void conformance_test::over_connection(tcp_transport const&,
                                                std::function<void(ip::tcp::socket&, ip::tcp::socket&)> const&);
template void conformance_test::over_connection(
    local_transport const&,
    std::function<void(local::stream_protocol::socket&, local::stream_protocol::socket&)> const&);

// ---- addresses and bytes

namespace {

ip::address loopback(bool v4) { return v4 ? ip::address(ip::address_v4::loopback()) : ip::address_v6::loopback(); }

/// An abstract name that nobody else has.
std::string free_name() {
    static std::atomic<unsigned> count{0};
    std::string name(1, '\0');
    name.append("fairlead-conformance-").append(std::to_string(::getpid())).append("-");
    return name.append(std::to_string(++count));
}

} // namespace

ip::tcp::endpoint tcp_transport::free_address() const { return {loopback(version == ip::tcp::v4()), 0}; }
ip::tcp::endpoint tcp_transport::nobody(io_context& c) const {
    ip::tcp::acceptor const gone(c, free_address());
    return gone.local_endpoint();
}
ip::udp::endpoint udp_transport::free_address() const { return {loopback(version == ip::udp::v4()), 0}; }
ip::udp::endpoint udp_transport::nobody(io_context& c) const {
    ip::udp::socket const gone(c, free_address());
    return gone.local_endpoint();
}
local::stream_protocol::endpoint local_transport::free_address() const { return free_name(); }
local::stream_protocol::endpoint local_transport::nobody(io_context&) const { return free_address(); }
local::datagram_protocol::endpoint local_datagram_transport::free_address() const { return free_name(); }

void conformance_test::over_ip(transport v4, transport v6, std::function<void(bool is_v4)> const& body) {
    bool const is_v4 = GetParam().transport == v4;
    ASSERT_TRUE(is_v4 || GetParam().transport == v6) << "this suite has other subjects";
    each_world([&] {
        if (!is_v4 && !has_ipv6())
            GTEST_SKIP() << "this computer has no IPv6";
        body(is_v4);
    });
}

bool conformance_test::has_ipv6() {
    ip::tcp::socket s(context());
    error_code ec;
    s.open(ip::tcp::v6(), ec);
    if (!ec)
        s.bind({ip::address_v6::loopback(), 0}, ec);
    return !ec;
}

std::string pattern(std::size_t size, std::uint64_t stream) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i != size; ++i)
        text[i] = static_cast<char>((i * 0x9e3779b97f4a7c15U + stream * 0xd1342543de82ef95U) >> 37);
    return text;
}

} // namespace fairlead::conformance
