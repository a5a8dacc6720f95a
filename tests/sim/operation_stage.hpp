// The objects of one script of core_operations_test.cpp, what becomes of them, and what their peers do.
#pragma once

#include <sim/operation_ways.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test::script {

class stage : public starter {
protected:
    explicit stage(sim::world& w) : starter(w) {
        renew_pair();
        renew_tcp_door();
        renew_path_door();
        renew_udp_box();
        renew_path_box();
        renew_packets();
        renew_to_descriptor();
        renew_from_descriptor();
        renew_timer();
        renew_signals();
        renew_names();
    }
    ~stage() = default;

    template <class T> T& one_of(std::vector<T>& all) { return all[below(static_cast<std::uint32_t>(all.size()))]; }

    // ---- what becomes of objects

    /// Tells an operation what becomes of its object.
    static void tell(flight& f, deed d) noexcept {
        bool const goes = is_end(d);
        bool const is_aborted = (goes || d == deed::cancel) && f.has_begun;
        bool const is_bound = f.has_begun && !f.has_steps; // to the object, which it does not look for again
        f.is_asked |= is_aborted;
        f.must_end |= is_aborted && is_bound;
        f.is_disturbed |= (goes || d == deed::move_away) && !is_bound;
    }
    /// True: the object has gone, or it is elsewhere.
    template <class T> bool do_to(home<T>& of, deed d) {
        for (auto& f : flights_)
            if (f->object == &of.here() && !f->is_over)
                tell(*f, d);
        of.undergo(d);
        return is_end(d) || d == deed::move_away;
    }
    void do_to_pair(std::shared_ptr<stream_pair> p, deed d) {
        if (!do_to(p->near, d))
            return;
        p->is_lost |= is_end(d);
        p->is_gone = true;
        if (p == now_.pair)
            renew_pair();
    }
    template <class Object, class T, class Renew> void do_to_one(std::shared_ptr<Object> o, home<T> Object::* of,
                                                                 deed d, std::shared_ptr<Object> const& now,
                                                                 Renew renew) {
        if (!do_to((*o).*of, d))
            return;
        o->is_gone |= is_end(d);
        if (o == now)
            (this->*renew)();
    }
    void do_to_tcp_door(std::shared_ptr<door<tcp>> const& o, deed d) {
        do_to_one(o, &door<tcp>::listens, d, now_.tcp_door, &stage::renew_tcp_door);
    }
    void do_to_udp_box(std::shared_ptr<box<udp>> const& o, deed d) {
        do_to_one(o, &box<udp>::of, d, now_.udp_box, &stage::renew_udp_box);
    }
    template <class Tube, class Renew>
    void do_to_tube(std::shared_ptr<Tube> o, bool is_out, deed d, std::shared_ptr<Tube> const& now, Renew renew) {
        auto const undergo = [&](auto& end, bool& is_lost) {
            if (!do_to(end, d))
                return false;
            is_lost |= is_end(d);
            return true;
        };
        if ((is_out ? undergo(o->out, o->out_is_lost) : undergo(o->in, o->in_is_lost)) && o == now)
            (this->*renew)();
    }
    void do_to_to_descriptor(std::shared_ptr<tube_to_descriptor> const& o, bool is_out, deed d) {
        do_to_tube(o, is_out, d, now_.to_descriptor, &stage::renew_to_descriptor);
    }
    void do_to_from_descriptor(std::shared_ptr<tube_from_descriptor> const& o, bool is_out, deed d) {
        do_to_tube(o, is_out, d, now_.from_descriptor, &stage::renew_from_descriptor);
    }
    void do_to_pipe_of(flight& f, deed d) {
        if (f.pipe == f.of.to_descriptor.get())
            do_to_to_descriptor(f.of.to_descriptor, f.kind == kind::writes_pipe, d);
        else
            do_to_from_descriptor(f.of.from_descriptor, f.kind == kind::writes_pipe, d);
    }
    void do_to_packets(std::shared_ptr<packet_pair> const& o, deed d) {
        do_to_one(o, &packet_pair::near, d, now_.packet_peers, &stage::renew_packets);
    }
    void do_to_signals(std::shared_ptr<horn> const& o, deed d) {
        do_to_one(o, &horn::set, d, now_.signals, &stage::renew_signals);
    }
    void do_to_an_object() {
        auto const what = below(12);
        auto const d = static_cast<deed>(below(deeds));
        switch (what) {
        case 0:
        case 1: return do_to_pair(one_of(pairs_), d);
        case 2: return do_to_tcp_door(one_of(tcp_doors_), d);
        case 3: return do_to_one(one_of(path_doors_), &path_door::listens, d, now_.path_door, &stage::renew_path_door);
        case 4: return do_to_udp_box(one_of(udp_boxes_), d);
        case 5: return do_to_one(one_of(path_boxes_), &path_box::of, d, now_.path_box, &stage::renew_path_box);
        case 6: return do_to_one(one_of(timers_), &alarm::timer, d, now_.timer, &stage::renew_timer);
        case 7: return do_to_signals(one_of(signals_), d);
        case 8: return do_to_to_descriptor(one_of(to_descriptors_), below(2) == 0, d);
        case 9: return do_to_from_descriptor(one_of(from_descriptors_), below(2) == 0, d);
        case 10: return do_to_packets(one_of(packet_pairs_), d);
        default: return do_to_one(one_of(names_), &questions::resolver, d, now_.names, &stage::renew_names);
        }
    }
    /// The socket that a connect has for itself.
    void do_to_a_client() {
        if (flights_.empty())
            return;
        auto& f = *one_of(flights_);
        auto const d = static_cast<deed>(below(deeds));
        if (f.object == &f.client)
            do_to(f.client_home, d);
        else if (f.object == &f.local_client)
            do_to(f.local_client_home, d);
    }

    // ---- peers, and time

    void let_a_peer_act() {
        switch (below(19)) {
        case 0:
        case 1:
        case 2: {
            auto const n = 1 + below(6);
            auto const is_line = below(2) == 0;
            return one_of(pairs_)->send(n, is_line);
        }
        case 3:
        case 4: return one_of(pairs_)->drain();
        case 5: return one_of(pairs_)->end_sending();
        case 6: {
            auto& p = *one_of(pairs_);
            if (!p.is_gone)
                p.clog();
            return;
        }
        case 7: {
            auto& p = *one_of(pairs_);
            if (below(3) == 0)
                p.close_far();
            return;
        }
        case 8: return one_of(tcp_doors_)->knock(context());
        case 9: return one_of(path_doors_)->knock(context());
        case 10: {
            auto& b = *one_of(udp_boxes_);
            if (!b.is_gone)
                b.drop_in();
            return;
        }
        case 11: return blow();
        case 12: return one_of(to_descriptors_)->send(1 + below(6));
        case 13: return one_of(from_descriptors_)->send(1 + below(6));
        case 14: return below(2) == 0 ? one_of(to_descriptors_)->clog() : one_of(from_descriptors_)->clog();
        case 15: return one_of(packet_pairs_)->send();
        case 16: return one_of(packet_pairs_)->clog();
        case 17: {
            auto& p = *one_of(packet_pairs_);
            return below(4) == 0 ? p.close_far() : p.drain(account);
        }
        default: {
            auto& t = *one_of(timers_);
            t.set(time_below(3000));
            for (auto& f : flights_)
                if (f->object == &t.timer.here() && !f->is_over) {
                    tell(*f, deed::cancel);
                    f->deadline = std::min(f->deadline, t.deadline);
                }
        }
        }
    }

    /// All sets hear it, also those that have been moved or have nobody who waits.
    void blow() {
        bool const is_wanted =
            std::any_of(signals_.begin(), signals_.end(), [](auto const& each) { return !each->is_gone; });
        for (auto& each : signals_)
            each->blown += !each->is_gone;
        account.check(host_.raise(SIGUSR1) == is_wanted, "a signal is taken although nobody wants it, or is not");
    }

    /// Lets the peer of an operation do what it waits for.
    void let_its_peer_act(flight& f) {
        switch (f.kind) {
        case kind::reads:
        case kind::reads_text:
        case kind::fills:
        case kind::waits_to_read: {
            auto const n = 1 + below(6);
            auto const is_line = below(2) == 0;
            return f.of.pair->send(n, is_line);
        }
        case kind::writes:
        case kind::flushes: return f.of.pair->drain();
        case kind::accepts: return f.of.tcp_door->knock(context());
        case kind::receives:
            if (!f.of.udp_box->is_gone)
                f.of.udp_box->drop_in();
            return;
        case kind::waits_for_a_signal: return blow();
        case kind::receives_packets: return f.of.packet_peers->send();
        case kind::sends_packets: return f.of.packet_peers->drain(account);
        case kind::reads_pipe:
        case kind::waits_for_pipe:
            if (f.pipe == f.of.to_descriptor.get())
                return f.of.to_descriptor->send(1 + below(6));
            return f.of.from_descriptor->send(1 + below(6));
        case kind::writes_pipe:
            if (f.pipe == f.of.to_descriptor.get())
                return f.of.to_descriptor->drain();
            return f.of.from_descriptor->drain();
        default: return let_a_peer_act();
        }
    }
    void drain_all() {
        for (auto& p : pairs_)
            p->drain();
        for (auto& b : path_boxes_)
            b->drain(account);
        for (auto& p : packet_pairs_)
            p->drain(account);
        for (auto& t : to_descriptors_)
            t->drain();
        for (auto& t : from_descriptors_)
            t->drain();
    }
    void end_sending() {
        for (auto& p : pairs_)
            p->end_sending();
        for (auto& p : packet_pairs_)
            p->end_sending();
        for (auto& t : to_descriptors_)
            t->end_sending();
        for (auto& t : from_descriptors_)
            t->end_sending();
    }

    // ---- afterwards

    void check_objects() {
        for_each_object([this](auto& o) {
            if constexpr (requires { o.check(account); })
                o.check(account);
        });
    }
    /// Objects that outlive their world are inert.
    void use_objects() {
        for_each_object([](auto& o) {
            for (auto const d : {deed::move_there_and_back, deed::cancel, deed::close})
                if constexpr (requires { o.home_of(); }) {
                    o.home_of().undergo(d);
                } else {
                    o.in.undergo(d);
                    o.out.undergo(d);
                }
        });
    }
    void expect_no_descriptor_is_left() {
        flights_.clear();
        now_ = {};
        pairs_.clear();
        tcp_doors_.clear();
        path_doors_.clear();
        udp_boxes_.clear();
        path_boxes_.clear();
        packet_pairs_.clear();
        to_descriptors_.clear();
        from_descriptors_.clear();
        host_.descriptor_limit(2);
        local_socket a(context()), b(context());
        error_code first, second;
        a.open(local::stream_protocol(), first);
        b.open(local::stream_protocol(), second);
        account.check(!first && !second, "a descriptor leaks");
    }

    objects now_;
    std::vector<std::shared_ptr<stream_pair>> pairs_;
    std::vector<std::shared_ptr<door<tcp>>> tcp_doors_;
    std::vector<std::shared_ptr<path_door>> path_doors_;
    std::vector<std::shared_ptr<box<udp>>> udp_boxes_;
    std::vector<std::shared_ptr<path_box>> path_boxes_;
    std::vector<std::shared_ptr<alarm>> timers_;
    std::vector<std::shared_ptr<packet_pair>> packet_pairs_;
    std::vector<std::shared_ptr<tube_to_descriptor>> to_descriptors_;
    std::vector<std::shared_ptr<tube_from_descriptor>> from_descriptors_;
    std::vector<std::shared_ptr<horn>> signals_;
    std::vector<std::shared_ptr<questions>> names_;
    std::vector<std::unique_ptr<flight>> flights_;

private:
    template <class F> void for_each_object(F f) {
        auto const each_of = [&f](auto const& all) {
            for (auto const& each : all)
                f(*each);
        };
        each_of(pairs_);
        each_of(tcp_doors_);
        each_of(path_doors_);
        each_of(udp_boxes_);
        each_of(path_boxes_);
        each_of(packet_pairs_);
        each_of(to_descriptors_);
        each_of(from_descriptors_);
        each_of(timers_);
        each_of(signals_);
        each_of(names_);
    }
    template <class T> T& add(std::vector<std::shared_ptr<T>>& to, std::shared_ptr<T>& current, std::shared_ptr<T> p) {
        to.push_back(p);
        current = std::move(p);
        return *current;
    }
    std::string new_path() { return std::string(1, '\0') + "path-" + std::to_string(++paths_); }
    void renew_pair() { add(pairs_, now_.pair, std::make_shared<stream_pair>(context())); }
    void renew_tcp_door() {
        add(tcp_doors_, now_.tcp_door,
            std::make_shared<door<tcp>>(context(), tcp::endpoint(ip::address_v4::loopback(), 0)));
    }
    void renew_path_door() { add(path_doors_, now_.path_door, std::make_shared<path_door>(context(), new_path())); }
    void renew_udp_box() {
        add(udp_boxes_, now_.udp_box,
            std::make_shared<box<udp>>(context(), udp::endpoint(ip::address_v4::loopback(), 0), true));
    }
    void renew_path_box() { add(path_boxes_, now_.path_box, std::make_shared<path_box>(context(), new_path(), false)); }
    void renew_timer() {
        auto const after = time_below(4000);
        add(timers_, now_.timer, std::make_shared<alarm>(context())).set(after);
    }
    void renew_packets() { add(packet_pairs_, now_.packet_peers, std::make_shared<packet_pair>(context())); }
    void renew_to_descriptor() {
        add(to_descriptors_, now_.to_descriptor, std::make_shared<tube_to_descriptor>(context()));
    }
    void renew_from_descriptor() {
        add(from_descriptors_, now_.from_descriptor, std::make_shared<tube_from_descriptor>(context()));
    }
    void renew_signals() { add(signals_, now_.signals, std::make_shared<horn>(context())); }
    void renew_names() { add(names_, now_.names, std::make_shared<questions>(context())); }

    unsigned paths_ = 0;
};

} // namespace fairlead::test::script
