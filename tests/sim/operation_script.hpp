// A random script of operations, requests and what becomes of objects, for core_operations_test.cpp.
#pragma once

#include <sim/operation_requests.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test::script {

inline awaitable<int> seven_of(alive) { co_return 7; }

class operations final : public requests {
public:
    explicit operations(sim::world& w) : requests(w), left_(w.choose("steps", 5, 30)) {
        account.covers(host_);
        account.stack_begins();
        focus_ = below(4) == 0 ? kind::none : kind_of_number(below(static_cast<std::uint32_t>(starts().size())));
        co_spawn(context(), act_now_and_then(alive(account)),
                 once(account, [this, a = alive(account)](std::exception_ptr e) {
                     account.check(!e, "a coroutine of the test throws");
                 }));
        for (auto n = below(4); n != 0; --n) // between turns
            world_.at(time_below(3000), [this] { act_if_any_is_left(); });
        if (w.choose("destroys", 0, 7) == 0)
            world_.at(time_below(5000), [this] {
                world_goes();
                account.end_everything();
            });
    }
    /// Acts for the last time. From here on nothing may complete.
    void world_goes() {
        for (auto n = is_destroyed_ ? 0 : below(4); n != 0; --n)
            act();
        is_destroyed_ = true;
        left_ = 0;
    }
    /// When the world has run.
    void settle(outcomes_by_name& by_name) {
        if (!is_destroyed_) {
            for (auto& p : pairs_)
                p->flush();
            world_.run();
        }
        drop_held();
        count(by_name);
        if (!is_destroyed_)
            check_objects();
        expect_no_descriptor_is_left();
    }
    /// When it has gone.
    void settle_without_a_world(outcomes_by_name& by_name) {
        drop_held();
        count(by_name);
        use_objects();
    }

private:
    // ---- starting

    using start_one = void (operations::*)();
    struct start_of {
        start_one start;
        kind of;
    };
    static std::vector<start_of> const& starts() {
        static auto const all = [] {
            std::vector<start_of> v;
            ops::for_each_operation(
                [&v]<class Op>(std::type_identity<Op>) { v.push_back({&operations::start<Op>, kind_of<Op>()}); });
            return v;
        }();
        return all;
    }
    static kind kind_of_number(std::uint32_t i) { return starts()[i].of; }
    void start_an_operation() {
        for (int tries = 0; tries != 8; ++tries) {
            auto const& s = starts()[below(static_cast<std::uint32_t>(starts().size()))];
            if (focus_ == kind::none || s.of == focus_ || tries == 7)
                return (this->*s.start)();
        }
    }
    template <class Op> void start() {
        if (!is_startable(kind_of<Op>(), own_buffer<Op>(), is_to_descriptor<Op>))
            return;
        auto& f = *flights_.emplace_back(std::make_unique<flight>(context(), now_));
        f.name = Op::name;
        f.kind = kind_of<Op>();
        f.has_steps = has_steps<Op>;
        f.ignores_total = ignores_total<Op>;
        f.may_complete_inside = std::is_same_v<Op, ops::dispatch_op>;
        f.buffer_of_its_own = own_buffer<Op>();
        if constexpr (is_to_descriptor<Op>)
            f.pipe = f.of.to_descriptor.get();
        else
            f.pipe = f.of.from_descriptor.get();
        prepare(f);
        if (below(3) == 0)
            return start_with_handler(f, [&] {
                if constexpr (kind_of<Op>() == kind::calls)
                    Op::start(f, handler_of(f));
                else
                    Op::start(f, bind_cancellation_slot(f.signal->slot(), handler_of(f)));
            });
        auto op = hold(f, Op::start(f, deferred));
        if (below(4) == 0)
            held_.push_back(std::move(op));
        else
            op->start(*this, static_cast<way>(below(ways)));
    }
    bool is_startable(kind k, bool stream_pair::* own, bool to_descriptor) {
        if (own && (*now_.pair).*own)
            return false;
        if (k == kind::writes || k == kind::flushes)
            return now_.pair->to_far.has(8);
        if (k == kind::writes_pipe)
            return (to_descriptor ? now_.to_descriptor->numbers : now_.from_descriptor->numbers).has(8);
        if (k == kind::sends_packets)
            return now_.packet_peers->to_far.has_more();
        if (k == kind::sends)
            return now_.udp_box->has_more();
        if (k == kind::sends_to_path)
            return now_.path_box->has_more();
        return true;
    }
    void prepare(flight& f) {
        auto& p = *now_.pair;
        f.object = object_of(f);
        f.deadline = now_.timer->deadline;
        f.received_before = p.last_received;
        f.writes_before = ++p.steps;
        if (f.buffer_of_its_own)
            p.*f.buffer_of_its_own = true;
        switch (f.kind) {
        case kind::writes: f.text = f.output = p.to_far.take(1 + below(6)); return;
        case kind::flushes: {
            f.output = p.to_far.take(1 + below(6));
            error_code ec;
            bool const of_both = f.buffer_of_its_own == &stream_pair::is_writing_both;
            auto const n =
                of_both ? p.buffers_both.write_some(buffer(f.output), ec) : p.collects.write_some(buffer(f.output), ec);
            p.accepted.append(f.output, 0, n);
            return;
        }
        case kind::connects:
        case kind::connects_range: ++now_.tcp_door->tried; return;
        case kind::connects_to_path: ++now_.path_door->tried; return;
        case kind::writes_pipe: f.output = f.pipe->take(1 + below(6)); return;
        case kind::sends_packets: f.output = now_.packet_peers->to_far.take(); return;
        case kind::sends: f.output = now_.udp_box->take(); return;
        case kind::sends_to_path: f.output = now_.path_box->take(); return;
        case kind::spawns: f.coroutine.emplace(seven_of(alive(account))); return;
        default: return;
        }
    }
    static void const* object_of(flight& f) {
        switch (f.kind) {
        case kind::accepts: return &f.acceptor;
        case kind::connects:
        case kind::connects_range: return &f.client;
        case kind::connects_to_path: return &f.local_client;
        case kind::receives:
        case kind::sends: return &f.datagrams;
        case kind::sends_to_path: return &f.local_datagrams;
        case kind::receives_packets:
        case kind::sends_packets: return &f.packets;
        case kind::waits: return &f.timer;
        case kind::reads_pipe:
        case kind::waits_for_pipe:
            if (f.pipe == f.of.to_descriptor.get())
                return &f.descriptor;
            return &f.reads;
        case kind::writes_pipe:
            if (f.pipe == f.of.to_descriptor.get())
                return &f.writes;
            return &f.other_descriptor;
        case kind::waits_for_a_signal: return &f.signals;
        case kind::looks_up: return &f.resolver;
        case kind::connects_datagrams:
        case kind::connects_datagrams_to_path:
        case kind::calls:
        case kind::spawns:
        case kind::none: return nullptr;
        default: return &f.a;
        }
    }
    void drop_held() noexcept {
        held_.clear();
        for (auto& f : flights_)
            f->coroutine.reset();
    }
    void use_a_held_one() {
        if (held_.empty())
            return;
        auto& at = one_of(held_);
        switch (below(4)) {
        case 0: at = at->move(); return;
        case 1:
            if (at->of.buffer_of_its_own)
                (*at->of.of.pair).*(at->of.buffer_of_its_own) = false;
            at = std::move(held_.back());
            held_.pop_back();
            return;
        default: {
            auto const op = std::move(at);
            at = std::move(held_.back());
            held_.pop_back();
            op->start(*this, static_cast<way>(below(ways)));
        }
        }
    }

    // ---- the script

    void act() {
        auto const what = below(20);
        if (what < 7 || flights_.empty())
            return start_an_operation();
        if (what < 8)
            return use_a_held_one();
        if (what < 11)
            return ask();
        if (what < 13)
            return let_a_peer_act();
        if (what < 15)
            return let_its_peer_act(some_flight());
        if (what < 17)
            return race();
        if (what < 19)
            return do_to_an_object();
        do_to_a_client();
    }
    void act_if_any_is_left() override {
        if (left_ != 0 && below(2) == 0) {
            --left_;
            act();
        }
    }
    awaitable<void> act_now_and_then(alive) {
        while (left_ != 0) {
            --left_;
            act();
            if (below(3) == 0)
                co_await wait(time_below(2000));
        }
        co_await wait_and_drain();
        expect_ends("goes on although it has a limit, or was asked to end");
        if (end_the_rest()) {
            co_await wait_and_drain();
            expect_ends("goes on although it was asked to end");
        }
        end_sending();
        co_await wait_and_drain();
    }
    awaitable<void> wait(std::chrono::microseconds d) {
        steady_timer t(context(), d);
        co_await t.async_wait();
    }
    /// Operations that can end by themselves do so, and writes find room.
    awaitable<void> wait_and_drain() {
        for (int i = 0; i != 10; ++i) {
            drain_all();
            co_await wait(6ms);
        }
    }
    /// True: everything that was started must end soon. Else reads go on until there is the end.
    bool end_the_rest() {
        auto how = below(4);
        if (how == 1 &&
            std::any_of(flights_.begin(), flights_.end(), [](auto& f) { return f->is_deaf && !f->is_over; }))
            how = 2; // A connection for one that is deaf might go to one that was asked.
        for (std::size_t i = 0; i != flights_.size(); ++i) { // Handlers do not run here, and start none.
            auto& f = *flights_[i];
            if (f.is_over || !f.is_started)
                continue;
            if (how == 1) {
                ask(f, cancellation_type::terminal);
            } else if (how > 1) {
                auto const d = how == 2 ? deed::cancel : deed::close;
                if (f.object == &f.a)
                    do_to_pair(f.of.pair, d);
                else if (f.object == &f.acceptor)
                    do_to_tcp_door(f.of.tcp_door, d);
                else if (f.object == &f.datagrams)
                    do_to_udp_box(f.of.udp_box, d);
                else if (f.kind == kind::reads_pipe || f.kind == kind::waits_for_pipe || f.kind == kind::writes_pipe)
                    do_to_pipe_of(f, d);
                else if (f.object == &f.packets)
                    do_to_packets(f.of.packet_peers, d);
                else if (f.object == &f.signals)
                    do_to_signals(f.of.signals, d);
            } else if (f.kind == kind::accepts) {
                f.of.tcp_door->knock(context());
            } else if (f.kind == kind::receives) {
                f.of.udp_box->drop_in();
            } else if (f.kind == kind::waits_for_a_signal) {
                if (f.of.signals->is_gone) // A wait that began when its set had lost its signals.
                    do_to_signals(f.of.signals, deed::cancel);
                else
                    blow();
            }
        }
        return how != 0;
    }

    std::uint64_t left_;
    kind focus_ = kind::none;
    std::vector<std::unique_ptr<held_base>> held_;
};

} // namespace fairlead::test::script
