// A real redis-server (or valkey-server) on a free port of loopback, for the life of one object.
#pragma once

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <support/child_process.hpp>
#include <support/scratch_folder.hpp>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

class redis_server_process {
public:
    /// With more arguments for the program.
    explicit redis_server_process(std::vector<std::string> more = {})
        : program_(find_program({"redis-server", "valkey-server"})),
          more_(std::move(more)) {
        if (program_.empty())
            return;
        io_context ctx;
        ip::tcp::acceptor probe(ctx, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0));
        port_ = std::to_string(probe.local_endpoint().port());
        probe.close();
        start();
    }

    bool is_installed() const noexcept { return !program_.empty(); }
    std::string address() const { return "127.0.0.1:" + port_; }

    /// With the same port, and no data but what it was told to save. It takes a moment until it listens.
    void start() {
        std::vector<std::string> command{program_, "--port", port_,          "--bind", "127.0.0.1",
                                         "--save", "",       "--appendonly", "no",     "--enable-debug-command",
                                         "local",  "--dir",  folder_.path};
        command.insert(command.end(), more_.begin(), more_.end());
        process_.start(command);
    }
    void kill() { process_.kill(); }
    void freeze() { process_.signal(SIGSTOP); }
    void thaw() { process_.signal(SIGCONT); }

private:
    std::string program_;
    std::vector<std::string> more_;
    std::string port_;
    scratch_folder folder_; // outlives the process: a replica saves what it copies, also where nobody asked for that
    child_process process_;
};

} // namespace fairlead::test
