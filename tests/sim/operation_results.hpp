// The results of the operations of core_operations_test.cpp, each held to what has happened to it.
#pragma once

#include <sim/operation_stage.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace fairlead::test::script {

/// How often each operation has ended, and how.
struct outcomes {
    std::size_t good = 0, aborted = 0, failed = 0, dropped = 0;
};
using outcomes_by_name = std::map<std::string, outcomes>;

class results : public stage {
protected:
    using stage::stage;
    ~results() = default;

    virtual void act_if_any_is_left() = 0;

    void expect_ends(char const* otherwise) {
        for (auto& f : flights_)
            account.check(f->is_over || !f->must_end, std::string(f->name) + ' ' + otherwise);
    }
    void count(outcomes_by_name& by_name) {
        for (auto& f : flights_) {
            f->signal->emit(cancellation_type::all); // Nobody can hear it.
            account.check(f->is_over || !f->is_started || is_destroyed_, std::string(f->name) + " never completes");
            auto& o = by_name[f->name];
            (!f->is_over ? o.dropped : !f->ec ? o.good : f->ec == error::operation_aborted ? o.aborted : o.failed) += 1;
        }
        account.settle();
    }

    bool is_destroyed_ = false; ///< the context, so that nothing completes any more

private:
    void completed(flight& f) override {
        auto const fault_if = [&](bool bad, char const* what) {
            if (bad)
                account.fault(std::string(f.name) + ' ' + what + " (" + f.ec.message() + ')');
        };
        account.touch_stack();
        fault_if(f.is_over, "completes twice");
        fault_if(!f.is_started, "completes although it was not started");
        fault_if(f.is_starting && !f.may_complete_inside, "completes inside its initiating function");
        fault_if(is_destroyed_, "completes although its context has gone");
        f.is_over = true;
        if (f.buffer_of_its_own)
            (*f.of.pair).*f.buffer_of_its_own = false;
        bool const limit_is_over = f.limit && context().now() >= *f.limit;
        if (f.ec == error::operation_aborted)
            fault_if(!f.is_asked && !f.is_disturbed && !limit_is_over, "is aborted although nobody asked");
        else if (f.ec)
            fault_if(!f.is_disturbed && !is_peer_gone(f), "fails");
        if (!keep_account(f))
            fault_if(true, "has a result that is not true");
        act_if_any_is_left();
    }
    static bool is_peer_gone(flight const& f) {
        switch (f.kind) {
        case kind::reads:
        case kind::reads_text:
        case kind::fills:
            if (f.of.pair->far_has_ended && f.ec == error::eof)
                return true;
            [[fallthrough]];
        case kind::waits_to_read:
        case kind::writes:
        case kind::flushes: return f.of.pair->far_is_gone;
        case kind::receives_packets:
        case kind::sends_packets: return f.of.packet_peers->far_is_gone;
        case kind::reads_pipe: return f.pipe->out_is_lost && f.ec == error::eof;
        case kind::writes_pipe: return f.pipe->in_is_lost;
        case kind::connects:
        case kind::connects_range: return f.of.tcp_door->is_gone;
        case kind::connects_to_path: return f.of.path_door->is_gone;
        case kind::sends_to_path:
        case kind::connects_datagrams_to_path: return f.of.path_box->is_gone;
        default: return false;
        }
    }
    /// Bytes in their order, behind those that were there before. Those that a stream has read ahead are older.
    static bool is_received(flight& f, std::string_view got) {
        auto& p = *f.of.pair;
        p.received += got;
        p.last_received = std::max(p.last_received, numbered_bytes::last_of(got));
        auto const first = numbered_bytes::first_of(got);
        return numbered_bytes::is_in_order(got) && (first == -1 || first > f.received_before || f.buffer_of_its_own);
    }
    /// False: the result cannot be.
    bool keep_account(flight& f) {
        auto& p = *f.of.pair;
        bool const good = !f.ec;
        switch (f.kind) {
        case kind::reads:
            if (f.n > sizeof f.bytes || (good && f.n == 0))
                return false;
            return is_received(f, {f.bytes, f.n});
        case kind::reads_text: return is_received(f, f.text);
        case kind::writes:
            if (f.n > f.output.size() || (good && f.n == 0))
                return false;
            p.accepted.append(f.output, 0, f.n);
            if (f.n != 0 && !f.buffer_of_its_own)
                p.writes.push_back({f.output.substr(0, f.n), f.writes_before, ++p.steps});
            return true;
        case kind::accepts: {
            f.take(f.peer);
            auto& d = *f.of.tcp_door;
            d.accepted += f.connections;
            if (f.port != 0)
                d.ports.push_back(f.port);
            return f.connections == static_cast<std::size_t>(good);
        }
        case kind::connects: f.of.tcp_door->connected += good; return true;
        case kind::connects_range: f.of.tcp_door->connected += good; return !good || f.connections == 1;
        case kind::connects_to_path: f.of.path_door->connected += good; return true;
        case kind::receives:
            if (!good)
                return f.n == 0;
            f.of.udp_box->received(account, {f.bytes, f.n});
            return true;
        case kind::sends:
            if (good)
                f.of.udp_box->sent(f.output);
            return f.n == (good ? f.output.size() : 0);
        case kind::sends_to_path:
            if (good)
                f.of.path_box->sent(f.output);
            return f.n == (good ? f.output.size() : 0);
        case kind::waits: return !good || f.is_disturbed || context().now() >= f.deadline;
        case kind::receives_packets: return f.of.packet_peers->is_received(account, {f.bytes, f.n}, f.flags, good);
        case kind::sends_packets:
            if (good)
                f.of.packet_peers->to_far.sent(f.output);
            return f.n == (good ? f.output.size() : 0);
        case kind::reads_pipe:
            if (f.n > sizeof f.bytes || (good && f.n == 0))
                return false;
            f.pipe->received_some(account, {f.bytes, f.n});
            return true;
        case kind::writes_pipe:
            if (f.n > f.output.size() || (good && f.n == 0))
                return false;
            f.pipe->wrote(f.output, f.n);
            return true;
        case kind::waits_for_a_signal: f.of.signals->heard += good; return f.value == (good ? SIGUSR1 : 0);
        case kind::looks_up: return f.found == static_cast<std::size_t>(good);
        case kind::spawns: return !good || f.value == 7;
        case kind::calls: return good || f.is_coroutine;
        default: return true;
        }
    }
};

} // namespace fairlead::test::script
