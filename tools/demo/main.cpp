// fairlead-demo: see options.cpp for what it does and how it is called.
#include "load.hpp"
#include "options.hpp"
#include "papers.hpp"
#include "redis_process.hpp"
#include "report.hpp"

#include <fairlead/io/io_context.hpp>
#include <fairlead/redis_server/server.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

namespace {

/// The server inside this program, on a thread and a loop of its own.
class embedded_server {
public:
    embedded_server() : context_(1), server_(context_) {
        thread_ = std::thread([this] { context_.run(); });
    }
    ~embedded_server() {
        context_.stop();
        thread_.join();
    }
    std::uint16_t port() const { return server_.port(); }

private:
    fairlead::io_context context_;
    fairlead::redis::server server_;
    std::thread thread_;
};

int run(demo::options const& o) {
    std::optional<demo::redis_process> process;
    std::unique_ptr<embedded_server> embedded;
    demo::figures f;
    std::string address = o.server;
    std::string why;
    if (o.server.empty()) {
        if (auto started = demo::redis_process::start(why)) {
            process.emplace(std::move(*started));
            address = "127.0.0.1:" + std::to_string(process->port());
            f.server = "redis-server " + process->version() + ", started on " + address;
        }
    }
    if (o.server == "embedded" || (o.server.empty() && !process)) {
        embedded = std::make_unique<embedded_server>();
        address = "127.0.0.1:" + std::to_string(embedded->port());
        f.server = "the server inside this program, on " + address + (why.empty() ? "" : " (" + why + ")");
    }
    if (f.server.empty())
        f.server = "the server at " + address;
    std::printf("Server: %s\n", f.server.c_str());
    std::printf("%llu callers issue %llu commands over one connection; a subscriber receives pushes on it.\n\n",
                static_cast<unsigned long long>(o.callers), static_cast<unsigned long long>(o.commands));
    std::fflush(stdout);

    demo::run_load(o, address, f);
    if (f.commands != 0)
        demo::print_table(f);
    if (!f.failure.empty()) {
        std::fprintf(stderr, "fairlead-demo: the run ended early: %s\n", f.failure.c_str());
        return 1;
    }
    bool good = f.good();
    if (!o.json.empty())
        good = demo::write_json(f, o.json) && good;
    if (!o.plot.empty())
        good = demo::write_plot(f, o.plot) && good;
    if (o.papers)
        good = demo::show_papers(o.echo_messages) && good;
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    demo::options o;
    std::string message;
    int status = 0;
    if (!demo::parse(argc, argv, o, message, status)) {
        std::fputs(message.c_str(), status == 0 ? stdout : stderr);
        return status;
    }
    try {
        return run(o);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "fairlead-demo: %s\n", e.what());
        return 1;
    }
}
