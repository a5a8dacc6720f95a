// The operations at the leaves of the trees of core_trees_test.cpp, with an account of what each has done.
#pragma once

#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/operation/compose.hpp>

#include <sim/ledger.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test::trees {

/// An operation, a group, a coroutine: whatever stands at one place of a tree. It completes with the bytes below it.
using node = async_op<void(error_code, std::size_t)>;

/// Whether the operations in a part of a tree may have been asked to end: by somebody in it, or around it.
struct asked_scope {
    explicit asked_scope(std::shared_ptr<asked_scope> s) noexcept : around(std::move(s)) {}
    std::shared_ptr<asked_scope> around;
    bool is_asked = false;
    bool may_end_early() const noexcept {
        for (auto const* s = this; s; s = s->around.get())
            if (s->is_asked)
                return true;
        return false;
    }
};
using scope_ptr = std::shared_ptr<asked_scope>;

/// Two connected sockets. One read and one write at a time begin at the near one.
class duct {
public:
    using local_socket = local::stream_protocol::socket;

    explicit duct(io_context& c) : near(c), far_(c) {
        local::connect_pair(near, far_);
        near.non_blocking(true);
        far_.non_blocking(true);
    }
    /// So many bytes come to the near one.
    void feed(std::size_t n) {
        char bytes[most];
        for (std::size_t i = 0; i != n; ++i)
            bytes[i] = byte_at(fed_ + i);
        error_code ec;
        fed_ += far_.write_some(buffer(bytes, n), ec);
    }
    /// Nothing can be written until drain().
    void clog() {
        std::string bytes(64 * 1024, ' ');
        for (error_code ec; !ec;) {
            for (std::size_t i = 0; i != bytes.size(); ++i)
                bytes[i] = byte_at(sent + i);
            sent += near.write_some(buffer(bytes), ec);
        }
    }
    void fill(std::size_t n) noexcept {
        for (std::size_t i = 0; i != n; ++i)
            out[i] = byte_at(sent + i);
    }
    bool takes(std::size_t n) noexcept { return are_next(in, n, received_); }
    void drain() {
        char bytes[4096];
        for (error_code ec; !ec;)
            is_good_ &= are_next(bytes, far_.read_some(buffer(bytes), ec), drained_);
    }
    bool is_drained() const noexcept { return drained_ == sent; }
    /// When nothing is pending any more.
    void check(ledger& account) {
        for (error_code ec; !ec;) {
            auto const n = near.read_some(buffer(in), ec);
            is_good_ &= takes(n);
        }
        account.check(received_ == fed_, "bytes are lost: nobody has read them, and they are not there");
        drain();
        account.check(drained_ == sent, "a write has sent more or less than it says");
        account.check(is_good_, "bytes have changed, or come twice");
    }

    static constexpr std::size_t most = 8;
    local_socket near;
    bool is_read = false, is_written = false;
    std::size_t sent = 0;
    char in[most], out[most];

private:
    static char byte_at(std::size_t i) noexcept { return static_cast<char>(i % 251); }
    static bool are_next(char const* bytes, std::size_t n, std::size_t& position) noexcept {
        bool good = true;
        for (std::size_t i = 0; i != n; ++i)
            good &= bytes[i] == byte_at(position++);
        return good;
    }

    local_socket far_;
    std::size_t fed_ = 0, received_ = 0, drained_ = 0;
    bool is_good_ = true;
};

enum class leaf_kind { waits, fails, reads, writes, waits_for_ever };

/// A world with the sockets of all its leaves.
class orchard {
public:
    explicit orchard(sim::world& w) : account(w), world(w), context(w.context()) {}

    std::uint32_t below(std::uint32_t n) { return world.random().below(n); }
    std::chrono::microseconds short_time() { return std::chrono::microseconds(below(3'000)); }
    duct& one_to_read() {
        return find([](duct& d) -> bool& { return d.is_read; });
    }
    duct& one_to_write() {
        return find([](duct& d) -> bool& { return d.is_written; });
    }
    /// Something that happens by itself.
    template <class F> void soon(F f) { world.at(world.elapsed() + short_time(), std::move(f)); }
    /// Until nothing is left, for bytes may still be on their way.
    void drain_soon(duct& d) {
        soon([this, &d] {
            d.drain();
            if (!d.is_drained() && !is_destroyed)
                drain_soon(d);
        });
    }
    void check_bytes() {
        for (auto& d : ducts_)
            d->check(account);
    }

    ledger account;
    sim::world& world;
    io_context& context;
    std::size_t leaves = 0;
    bool is_destroyed = false;

private:
    template <class F> duct& find(F is_taken) {
        for (auto& d : ducts_)
            if (!is_taken(*d)) {
                is_taken(*d) = true;
                return *d;
            }
        ducts_.push_back(std::make_unique<duct>(context));
        is_taken(*ducts_.back()) = true;
        return *ducts_.back();
    }

    std::vector<std::unique_ptr<duct>> ducts_;
};

/// A composed operation of one step. It notes its end where that happens, so that bytes count though nobody waits.
class leaf {
public:
    leaf(orchard& o, leaf_kind k, scope_ptr s) : orchard_(&o), kind_(k), scope_(std::move(s)), frame_(o.account) {}
    leaf(leaf&& other) noexcept
        : orchard_(other.orchard_),
          kind_(other.kind_),
          scope_(std::move(other.scope_)),
          frame_(other.frame_),
          duct_(other.duct_),
          timer_(std::move(other.timer_)),
          id_(other.id_),
          is_open_(std::exchange(other.is_open_, false)) {}
    leaf& operator=(leaf&&) = delete;
    ~leaf() {
        if (is_open_)
            orchard_->account.give_up(id_);
    }

    template <class Self> void operator()(Self& self) {
        self.reset_cancellation_state(enable_total_cancellation());
        id_ = orchard_->account.open();
        is_open_ = true;
        ++orchard_->leaves;
        auto& o = *orchard_;
        switch (kind_) {
        case leaf_kind::reads: {
            auto& d = *(duct_ = &o.one_to_read());
            auto const n = 1 + o.below(duct::most);
            if (o.below(3) == 0)
                d.feed(1 + o.below(duct::most));
            else
                o.soon([&d, n] { d.feed(n); });
            return d.near.async_read_some(buffer(d.in, 1 + o.below(duct::most)), std::move(self));
        }
        case leaf_kind::writes: {
            auto& d = *(duct_ = &o.one_to_write());
            if (o.below(8) == 0) {
                d.clog();
                o.drain_soon(d);
            }
            auto const n = 1 + o.below(duct::most);
            d.fill(n);
            return d.near.async_write_some(buffer(d.out, n), std::move(self));
        }
        case leaf_kind::waits:
        case leaf_kind::fails:
        case leaf_kind::waits_for_ever: {
            timer_ = std::make_unique<steady_timer>(o.context);
            if (kind_ == leaf_kind::waits_for_ever)
                timer_->expires_after(std::chrono::hours(1));
            else
                timer_->expires_after(o.short_time());
            auto& t = *timer_;
            return t.async_wait(std::move(self));
        }
        }
    }
    template <class Self> void operator()(Self& self, error_code ec, std::size_t n = 0) {
        auto& account = orchard_->account;
        is_open_ = false;
        account.complete(id_);
        account.check(!ec || ec == error::operation_aborted, "an operation fails with something that has not happened");
        account.check(!ec || scope_->may_end_early(), "an operation is ended early although nobody has asked");
        account.check(ec || kind_ != leaf_kind::waits_for_ever, "a wait of an hour has passed");
        if (kind_ == leaf_kind::reads) {
            account.check(duct_->takes(n), "a read has bytes that are not the next ones");
            account.check(ec || n != 0, "a read has nothing");
            duct_->is_read = false;
        } else if (kind_ == leaf_kind::writes) {
            account.check(ec || n != 0, "a write has sent nothing");
            duct_->sent += n;
            duct_->is_written = false;
        }
        if (kind_ == leaf_kind::fails && !ec)
            ec = error::host_unreachable;
        self.complete(ec, n);
    }

private:
    orchard* orchard_;
    leaf_kind kind_;
    scope_ptr scope_;
    alive frame_;
    duct* duct_ = nullptr;
    std::unique_ptr<steady_timer> timer_;
    std::size_t id_ = 0;
    bool is_open_ = false;
};

/// Starts a leaf.
template <class Token> decltype(auto) async_leaf(orchard& o, leaf_kind k, scope_ptr s, Token token) {
    return async_compose<Token, void(error_code, std::size_t)>(leaf(o, k, std::move(s)), token, o.context);
}

} // namespace fairlead::test::trees
