// A Redis client and a real server that is killed, frozen and cut off. Each call carries a token of its own.
// No answer may be another's, none may be missing. No command that counts may be executed twice.
//
//     redis_stress [rounds] [seed]      20 rounds from seed 1 on by default
#include "redis_proxy.hpp"
#include "redis_token.hpp"

#include <interop/redis_server_process.hpp>
#include <support/scratch_folder.hpp>

#include <fairlead/redis/connection.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace fairlead::test {
namespace {

/// A server whose numbers outlive it: what it has answered is on the disk.
class lasting_server {
public:
    /// Without HELLO its clients speak RESP2.
    explicit lasting_server(bool has_hello)
        : process_({"--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0", "--dir",
                    folder_.path, "--rename-command", "HELLO", has_hello ? "HELLO" : ""}) {}

    bool is_installed() const { return process_.is_installed(); }
    std::string address() const { return process_.address(); }
    ip::tcp::endpoint endpoint() const {
        auto const text = address();
        auto const port = std::strtoul(text.c_str() + text.find(':') + 1, nullptr, 10);
        return {ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)};
    }
    void kill() { process_.kill(); }
    void start() { process_.start(); }
    void freeze() { process_.freeze(); }
    void thaw() { process_.thaw(); }

private:
    scratch_folder folder_; // outlives the process
    redis_server_process process_;
};

class real_surroundings : public token_surroundings {
public:
    real_surroundings(io_context& c, lasting_server& s, std::uint64_t seed)
        : server_(s),
          proxy(c, s.endpoint(), seed) {}

    std::string address() const override { return proxy.address(); }
    void disturb(sim::random_stream& random) override {
        switch (random.below(8)) {
        case 0:
            is_frozen_ = false;
            std::exchange(is_up_, !is_up_) ? server_.kill() : server_.start();
            break;
        case 1:
            if (!is_up_)
                break;
            std::exchange(is_frozen_, !is_frozen_) ? server_.thaw() : server_.freeze();
            break;
        case 2: proxy.cut_all(); break;
        case 3: proxy.cut_next(1 + random.below(4)); break;
        case 4: proxy.hold(true); break;
        case 5: proxy.slow_down(true); break;
        default: mend(); break;
        }
    }
    void heal() override {
        mend();
        proxy.cut_next(0);
    }

private:
    void mend() {
        if (std::exchange(is_frozen_, false))
            server_.thaw();
        if (!std::exchange(is_up_, true))
            server_.start();
        proxy.hold(false);
        proxy.slow_down(false);
    }

    lasting_server& server_;
    bool is_up_ = true, is_frozen_ = false;

public:
    redis_proxy proxy;
};

awaitable<void> play_round(io_context& context, lasting_server& server, real_surroundings& around, token_round& round,
                           bool& is_whole) {
    auto playing = play_tokens(context, round, around);
    is_whole = co_await std::move(playing);
    if (!is_whole) {
        context.stop();
        co_return;
    }
    auto settling = settle_tokens(context, round, server.address());
    co_await std::move(settling);
    around.proxy.close();
}

void print(std::uint64_t rounds, token_tally const& t) {
    std::fputs(t.text((" in " + std::to_string(rounds) + " rounds").c_str()).c_str(), stdout);
    std::fflush(stdout);
}

int stress(std::uint64_t rounds, std::uint64_t seed) {
    std::optional<lasting_server> servers[2]; // the second one knows no HELLO
    token_tally all;
    std::uint64_t done = 0, failed = 0;
    auto said = std::chrono::steady_clock::now();
    for (; done != rounds && failed < 5; ++done, ++seed) {
        if (done % 25 == 0) // Their files grow.
            for (auto& each : servers)
                each.reset();
        bool const is_resp2 = seed % 4 == 1;
        auto& server = servers[is_resp2];
        if (!server)
            server.emplace(!is_resp2);
        if (!server->is_installed()) {
            std::printf("neither redis-server nor valkey-server is installed\n");
            return 77;
        }
        auto const context = std::make_unique<io_context>();
        auto const round = std::make_unique<token_round>(seed);
        round->is_threaded = seed % 3 == 0;
        round->is_resp2 = is_resp2;
        real_surroundings around(*context, *server, seed);
        bool is_whole = false;
        co_spawn(*context, around.proxy.serve(), detached);
        co_spawn(*context, play_round(*context, *server, around, *round, is_whole), [&](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(std::move(e));
        });
        context->run();
        auto const t = round->ledger.tally();
        all.add(t);
        if (!t.is_good()) {
            ++failed;
            std::printf("seed %llu:\n", static_cast<unsigned long long>(seed));
            for (auto const& each : round->ledger.complaints())
                std::printf("  %s\n", each.c_str());
            print(1, t);
        }
        if (!is_whole) { // Its calls refer to what would be destroyed.
            server->thaw();
            server->kill();
            print(done + 1, all);
            std::_Exit(1);
        }
        if (auto const now = std::chrono::steady_clock::now(); now - said > std::chrono::seconds(20)) {
            said = now;
            print(done + 1, all);
        }
    }
    print(done, all);
    return all.is_good() ? 0 : 1;
}

} // namespace
} // namespace fairlead::test

int main(int argc, char** argv) {
    auto const argument = [&](int i, std::uint64_t otherwise) {
        return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
    };
    try {
        return fairlead::test::stress(argument(1, 20), argument(2, 1));
    } catch (std::exception const& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
