// The limit of small calls beside large ones: bare system calls on one epoll set, and replies whose bytes are copied
// once.
//
//   redis_raw_large shared|apart|ranges[:BYTES] and then as workload.hpp says, mode small; with "apart" and "ranges" on
//   two connections, with "ranges" by one GETRANGE after the other
#include "latencies.hpp"
#include "raw_connection.hpp"
#include "workload.hpp"

#include <deque>
#include <sys/epoll.h>
#include <vector>

namespace {

using workload::insist;

class connection {
public:
    connection(workload::settings const& s, int set) : fd_(workload::raw::connect_to(s)) {
        epoll_event e{};
        e.events = EPOLLIN;
        e.data.ptr = this;
        epoll_ctl(set, EPOLL_CTL_ADD, fd_, &e);
    }
    ~connection() { close(fd_); }

    void get(std::string_view key, std::string& value) {
        due_.push_back(&value);
        send("*2\r\n$3\r\nGET\r\n$" + std::to_string(key.size()) + "\r\n" + std::string(key) + "\r\n");
    }
    void get_range(std::string_view key, std::size_t from, std::size_t size, std::string& value) {
        due_.push_back(&value);
        send(workload::raw::command({"GETRANGE", key, std::to_string(from), std::to_string(from + size - 1)}));
    }
    void send(std::string_view bytes) {
        insist(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()),
               "the connection was lost");
    }
    /// One read. `done` is called with each value that is whole.
    template <class Done> void read(Done done) {
        auto const n = recv(fd_, buffer_.data() + filled_, buffer_.size() - filled_, 0);
        insist(n > 0, "the connection was lost");
        filled_ += static_cast<std::size_t>(n);
        std::string_view in(buffer_.data(), filled_);
        while (!due_.empty()) {
            auto& value = *due_.front();
            if (size_left_ == 0) {
                auto const line_end = in.find('\n');
                if (line_end == std::string_view::npos)
                    break;
                insist(in[0] == '$', "another reply than expected");
                size_left_ = std::strtoul(in.data() + 1, nullptr, 10) + 2;
                value.clear();
                in.remove_prefix(line_end + 1);
            }
            auto const part = std::min(size_left_, in.size());
            value.append(in.data(), part);
            in.remove_prefix(part);
            size_left_ -= part;
            if (size_left_ != 0)
                break;
            value.resize(value.size() - 2);
            due_.pop_front();
            done(value);
        }
        std::memmove(buffer_.data(), in.data(), in.size());
        filled_ = in.size();
    }
    /// For a reply of one line.
    void skip_line() {
        char c;
        do
            insist(recv(fd_, &c, 1, 0) == 1, "the connection was lost");
        while (c != '\n');
    }

private:
    int fd_;
    std::deque<std::string*> due_;
    std::vector<char> buffer_ = std::vector<char>(256 * 1024);
    std::size_t filled_ = 0;
    std::size_t size_left_ = 0; // of the value at the front, with its end of line
};

/// Reads the large value again and again.
class large_reader {
public:
    /// `range_size`: 0 for one GET.
    large_reader(connection& c, std::size_t range_size) : connection_(&c), range_size_(range_size) {}

    void begin() {
        began_ = workload::large_calls::clock::now();
        value_.clear();
        go_on();
    }
    bool has(std::string const& value) const { return &value == &part_; }
    /// A part has come.
    void take(workload::large_calls& all) {
        if (range_size_ != 0)
            value_ += part_;
        auto const size = range_size_ != 0 ? value_.size() : part_.size();
        if (range_size_ != 0 && size < workload::large_size)
            return go_on();
        insist(size == workload::large_size, "GET gave another value");
        all.took(workload::large_calls::clock::now() - began_);
        begin();
    }

private:
    void go_on() {
        if (range_size_ == 0)
            connection_->get(workload::large_key, part_);
        else
            connection_->get_range(workload::large_key, value_.size(), range_size_, part_);
    }

    connection* connection_;
    std::size_t range_size_;
    std::string part_, value_;
    workload::large_calls::clock::time_point began_{};
};

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way is missing");
    workload::settings const s(argc - 1, argv + 1);
    if (!s.is_small())
        return workload::skipped;
    std::string_view const way = argv[1];
    std::size_t const range_size = !way.starts_with("ranges") ? 0
                                   : way.size() > 7           ? std::strtoul(argv[1] + 7, nullptr, 10)
                                                              : 32 * 1024;
    int const set = epoll_create1(EPOLL_CLOEXEC);
    connection first(s, set), second(s, set);
    auto& others = way == "shared" ? first : second;

    std::string const text(workload::small_size, 's');
    first.send("SET " + std::string(workload::small_key) + ' ' + text + "\r\n");
    first.skip_line();
    first.send("SETRANGE " + std::string(workload::large_key) + ' ' + std::to_string(workload::large_size - 1) +
               " x\r\n");
    first.skip_line();

    std::string small;
    workload::large_calls times;
    std::deque<large_reader> large;
    for (long i = 0; i != s.callers; ++i)
        large.emplace_back(others, range_size).begin();
    workload::latencies all(s.n);
    all.begin();
    first.get(workload::small_key, small);
    while (!all.is_full()) {
        epoll_event e[2];
        int const n = epoll_wait(set, e, 2, -1);
        for (int i = 0; i < n; ++i) {
            auto& c = *static_cast<connection*>(e[i].data.ptr);
            c.read([&](std::string& value) {
                for (auto& each : large)
                    if (each.has(value))
                        return each.take(times);
                insist(value == text, "GET gave another value");
                all.end();
                if (all.is_full())
                    return;
                all.begin();
                c.get(workload::small_key, value);
            });
        }
    }
    times.print();
    all.print();
    close(set);
}
