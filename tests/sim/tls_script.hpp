// A random script for the two ends of tls_operations_test.cpp, and what has to be true when it is over.
#pragma once

#include <sim/tls_ends.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test::tls_script {

using namespace std::chrono_literals;

/// Counts of what the scripts of many seeds have met.
struct tls_tally {
    std::uint64_t read = 0, resumed = 0, spoiled = 0, cut = 0, clean = 0, refused = 0, aborted_writes = 0, updates = 0;
};

template <class Below> class tls_script final : public tls_scene<Below> {
    using base = tls_scene<Below>;
    using typename base::end_type;
    using typename base::stream;
    using typename base::way;

public:
    using base::account;

    explicit tls_script(sim::world& w)
        : base(w, w.choose("version", 0, 2) == 0 ? TLS1_2_VERSION : TLS1_3_VERSION),
          steps_(w.choose("steps", 4, 40)),
          connections_(w.choose("connections", 1, 2)) {
        account.stack_begins();
        co_spawn(context(), play(alive(account)), this->ended_coroutine());
    }
    /// When the world has run.
    tls_tally const& settle() {
        account.settle();
        for (auto& f : flights_)
            account.check(f->is_over, "an operation is not over");
        return tally_;
    }
    /// From here on nothing may complete.
    void world_goes() {
        left_ = 0;
        is_over_ = true;
        account.world_goes();
    }

private:
    using base::ask;
    using base::below;
    using base::context;
    using base::ends_;
    using base::flights_;
    using base::other;
    using base::relay_;
    using base::running_;
    using base::start;
    using base::world_;

    awaitable<void> play(alive) {
        for (auto i = connections_; i != 0; --i) {
            this->connect();
            plan();
            left_ = steps_;
            for (auto& e : ends_)
                if (e.number == 1 && below(6) == 0)
                    co_spawn(context(), read_first_bytes(e, alive(account)), this->ended_coroutine());
            while (left_ != 0) {
                --left_;
                act();
                if (below(3) == 0)
                    co_await pause(below(1500));
            }
            co_await come_to_rest();
            if (is_calm())
                co_await part_in_peace();
            else
                co_await part_somehow();
            tear_down();
            for (int k = 0; running_ != 1; ++k) { // this one
                account.check(k != 1000, "something of the last connection goes on");
                co_await pause(k < 1000 ? 100 : 1'000'000);
            }
        }
    }
    awaitable<void> pause(std::uint32_t us) {
        steady_timer t(context(), std::chrono::microseconds(us));
        co_await t.async_wait();
    }
    awaitable<void> wait_until_idle() {
        for (int i = 0; i != 2000 && !(ends_[0].is_idle() && ends_[1].is_idle()); ++i)
            co_await pause(1000);
    }
    void plan() {
        is_destructive_ = below(3) == 0;
        says_goodbye_ = below(8) == 0;
        if (below(2) != 0)
            return;
        auto& d = this->directions_[below(2)];
        d.planned = static_cast<mishap>(1 + below(mishaps - 1));
        d.at = below(below(2) == 0 ? 3000 : 20'000); // of which the handshake is the first part
    }
    /// A server that asks first whether it is TLS.
    awaitable<void> read_first_bytes(end_type& e, alive) {
        e.is_waiting_for_bytes = true;
        auto s = e.tls.get();
        e.come.resize(1 + below(600));
        error_code ec;
        auto reading = e.socket().async_read_some(buffer(e.come), redirect_error(ec));
        e.come.resize(co_await std::move(reading));
        if (s == e.tls.get() && !ec)
            e.is_waiting_for_bytes = false;
        else
            e.is_misused = true;
    }

    // ---- the script

    void act() {
        auto& e = ends_[below(2)];
        if (!e.tls || e.is_waiting_for_bytes)
            return;
        auto const what = below(24);
        if (what < 13)
            return start_some(e);
        if (what < 17)
            return ask_some(e);
        if (what < 18)
            return intrude(e);
        if (what < 20)
            return update_keys(e);
        if (what < 22)
            return move(e, below(3));
        if (what < 23) {
            this->disturbed(e);
            error_code no_matter; // It may be closed.
            e.socket().cancel(no_matter);
            return;
        }
        if (is_destructive_ && below(3) == 0)
            end_it(e);
    }
    way some_way() { return static_cast<way>(below(4)); }
    void start_some(end_type& e) {
        auto const what = below(16);
        if (e.pending[0].empty() && (!e.is_done || what == 0) && !e.failure) {
            if (what == 1 && below(40) == 0)
                return void(start(e, verb::shutdown, 0, some_way()));
            if (what != 2 || below(8) != 0) {
                start(e, verb::handshake, 0, some_way());
                return;
            }
        }
        if (what < 8 && e.pending[2].empty() && (e.is_done || below(60) == 0))
            start(e, verb::read, some_size(), some_way());
        else if (what < 15 && e.pending[1].empty() && (e.is_done || below(60) == 0))
            start(e, verb::write, some_size(), some_way());
        else if (says_goodbye_ && e.pending[0].empty() && e.is_done && below(3) == 0)
            start(e, verb::shutdown, 0, some_way());
    }
    std::size_t some_size() {
        auto const kind = below(16);
        if (kind < 10 || relay_->is_slow())
            return 1 + below(60);
        if (kind < 13)
            return 1 + below(3000);
        return 1 + below(400'000); // Most of these do not fit into what lies between the ends.
    }
    void ask_some(end_type& e) {
        constexpr cancellation_type types[] = {cancellation_type::terminal, cancellation_type::partial,
                                               cancellation_type::total, cancellation_type::all};
        auto const& p = e.pending[below(3)];
        if (!p.empty())
            ask(*p.front(), types[below(4)]);
    }
    /// A second operation in a place that is taken: it is refused, or the first one has just ended.
    void intrude(end_type& e) {
        auto const i = below(3);
        if (e.pending[i].empty() || e.pending[i].front()->what == verb::shutdown)
            return;
        constexpr verb verbs[] = {verb::handshake, verb::write, verb::read};
        auto const come = std::exchange(e.come, {});
        start(e, verbs[i], 0, some_way()).is_intruder = true;
        e.come = come;
    }
    void update_keys(end_type& e) {
        if (!e.is_done || e.failure || this->version_ != TLS1_3_VERSION)
            return;
        tally_.updates += static_cast<std::uint64_t>(SSL_key_update(
            e.tls->native_handle(), below(2) == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED));
    }
    void move(end_type& e, std::uint32_t how) {
        auto moved = std::make_unique<stream>(std::move(*e.tls));
        if (how == 0) {
            e.tls = std::move(moved);
            return;
        }
        stream target(context(), this->contexts_[e.number]);
        target = std::move(*moved);
        e.tls = std::make_unique<stream>(std::move(target));
    }
    void end_it(end_type& e) {
        e.is_closed = true;
        this->disturbed(e);
        switch (below(3)) {
        case 0: {
            error_code no_matter; // It may be closed already.
            e.socket().close(no_matter);
            return;
        }
        case 1: e.tls.reset(); return;
        case 2: take_another_place(e); return;
        }
    }
    /// Another connection takes the place of this one. Nothing of the old one may get into the new one.
    void take_another_place(end_type& e) {
        auto fresh = std::make_unique<stream>(context(), this->contexts_[e.number]);
        auto peer = std::make_shared<local_socket>(context());
        local::connect_pair(socket_of(fresh->next_layer()), *peer);
        *e.tls = std::move(*fresh);
        replaced_.push_back(std::move(fresh));
        auto const watch = [](tls_script& s, std::shared_ptr<local_socket> p, alive) -> awaitable<void> {
            char some[100];
            error_code ec;
            auto op = p->async_read_some(buffer(some), redirect_error(ec));
            auto const n = co_await std::move(op);
            s.account.check(n == 0, "bytes of another connection");
        };
        co_spawn(context(), watch(*this, peer, alive(account)), this->ended_coroutine());
        replaced_.push_back(std::move(e.tls));
    }
    void after(flight& f) override {
        tally_.aborted_writes += f.what == verb::write && f.n != 0 && f.ec == error::operation_aborted;
        tally_.refused += f.ec == error::already_started;
        tally_.read += f.what == verb::read ? f.n : 0;
        if (left_ != 0 && below(3) == 0 && !f.is_sync) {
            --left_;
            act();
        }
    }

    // ---- the end of a script

    /// All that is pending is asked to end, and does.
    awaitable<void> come_to_rest() {
        for (auto& e : ends_)
            this->ask_all(e, cancellation_type::terminal);
        co_await wait_until_idle();
        for (auto& e : ends_)
            account.check(e.is_idle(), "an operation goes on although it was asked to end");
    }
    bool is_calm() {
        for (auto& d : this->directions_)
            if (d.is_spoiled || d.is_cut)
                return false;
        for (auto& e : ends_)
            if (!e.tls || e.is_closed || e.is_misused || e.says_goodbye || e.failure)
                return false;
        relay_->calm();
        return true;
    }
    awaitable<flight*> perform(end_type& e, verb what, std::size_t size) {
        auto& f = start(e, what, size, static_cast<way>(2 * below(2)));
        std::uint32_t us = 10;
        for (int i = 0; !f.is_over && i != 4000; ++i)
            co_await pause(us += us < 20'000 ? us / 10 : 0);
        if (!f.is_over) {
            account.fault("an operation hangs: " + this->text_of(e, f));
            ask(f, cancellation_type::terminal);
            e.failure = error::timed_out;
        }
        co_return &f;
    }
    awaitable<void> shake_hands(end_type& e) {
        while (e.is_waiting_for_bytes)
            co_await pause(100);
        while (!e.is_done && !e.failure)
            co_await perform(e, verb::handshake, 0);
    }
    /// All that writes have reported arrives, in order, and both ends part without an error.
    awaitable<void> part_in_peace() {
        ++tally_.clean;
        for (auto& e : ends_)
            co_spawn(context(), write_the_rest(e, alive(account)), this->ended_coroutine());
        auto& first = ends_[below(2)];
        co_await read_the_rest(first);
        co_await read_the_rest(other(first));
        co_await wait_until_idle();
        tally_.resumed += ends_[0].tls->is_resumed();
        if (below(2) == 0) {
            start(other(first), verb::shutdown, 0, way::handler);
        } else {
            start(first, verb::shutdown, 0, way::coroutine);
            auto const* const end = co_await perform(other(first), verb::read, 10);
            account.check(end->ec == error::eof, "no end although the peer has said goodbye");
            co_await come_to_end(other(first));
        }
        co_await come_to_end(first);
        co_await wait_until_idle();
        for (auto& e : ends_) {
            account.check(e.is_idle(), "a goodbye does not end");
            account.check(!e.failure, "two ends do not part in peace: " + e.failure.message());
        }
    }
    awaitable<void> come_to_end(end_type& e) {
        if (e.pending[0].empty())
            co_await perform(e, verb::shutdown, 0);
        auto const* const end = co_await perform(e, verb::read, 10);
        account.check(end->ec == error::eof, "a read after the end is not at the end");
    }
    awaitable<void> write_the_rest(end_type& e, alive) {
        co_await shake_hands(e);
        bool const is_much = below(8) == 0 && !relay_->is_slow(); // More than fits into what lies between the ends.
        e.out->target = e.out->accepted + 1 + below(is_much ? 1'000'000 : 100);
        while (e.out->accepted != e.out->target && !e.failure) {
            if (below(4) == 0)
                update_keys(e);
            auto const left = static_cast<std::size_t>(e.out->target - e.out->accepted);
            co_await perform(e, verb::write, std::min<std::size_t>(left, 100'000));
        }
    }
    awaitable<void> read_the_rest(end_type& e) {
        while (!e.is_done && !e.failure)
            co_await pause(100);
        while ((e.in->target == 0 || e.in->received != e.in->target) && !e.failure)
            co_await perform(e, verb::read, 1 + below(50'000));
    }

    /// Reads end with an error, soon or when the connection has gone. An end that finds spoilt bytes says so to the
    /// peer.
    awaitable<void> part_somehow() {
        for (auto& e : ends_)
            if (e.tls)
                co_spawn(context(), read_to_the_end(e, alive(account)), this->ended_coroutine());
        co_await pause(20'000'000);
        for (auto& d : this->directions_) {
            tally_.spoiled += d.is_spoiled;
            tally_.cut += d.is_cut;
        }
        for (auto& e : ends_) {
            auto& peer = other(e);
            bool const is_told = e.failure.category() == error::get_ssl_category() && !e.out->is_spoiled &&
                                 !e.out->is_cut && !e.in->is_cut && !e.is_misused && !peer.is_misused && !e.is_closed &&
                                 !peer.is_closed && !e.says_goodbye && !peer.says_goodbye;
            account.check(!is_told || is_of_tls(peer.failure), "the peer does not hear why the connection ends");
        }
        relay_->cut();
        co_await wait_until_idle();
        for (auto& e : ends_)
            account.check(e.is_idle(), "an operation goes on although the connection has gone");
    }
    awaitable<void> read_to_the_end(end_type& e, alive) {
        co_await shake_hands_somehow(e);
        if (e.tls)
            co_await perform(e, verb::write, 1 + below(100)); // The rest of a cancelled write goes first.
        while (e.tls && !is_over_) {
            auto const* const f = co_await perform(e, verb::read, 1 + below(5000));
            if (f->ec)
                break;
        }
    }
    awaitable<void> shake_hands_somehow(end_type& e) {
        for (int i = 0; i != 100 && e.is_waiting_for_bytes; ++i)
            co_await pause(1000);
        while (e.tls && !e.is_done && !e.failure)
            co_await perform(e, verb::handshake, 0);
    }
    void tear_down() {
        for (auto& e : ends_)
            e.tls.reset();
        replaced_.clear();
        relay_->cut();
    }

    std::uint64_t const steps_;
    std::uint64_t const connections_;
    std::uint64_t left_ = 0;
    bool is_destructive_ = false;
    bool says_goodbye_ = false;
    bool is_over_ = false;
    std::vector<std::unique_ptr<stream>> replaced_;
    tls_tally tally_;
};

} // namespace fairlead::test::tls_script
