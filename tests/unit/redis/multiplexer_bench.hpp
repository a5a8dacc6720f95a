// A multiplexer without a connection: calls go in, bytes come out, replies are fed by hand.
#pragma once

#include <redis/multiplexer.hpp>

#include <fairlead/resp3/error.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

/// The contents of a generic_response, readable in a failure message.
inline std::string dump(redis::generic_response const& r) {
    std::string text;
    for (auto const n : r) {
        text.append(n.depth * 2, ' ');
        text.append(resp3::to_string(n.kind)).append(" '").append(resp3::printable(n.value, 1024)).append("'");
        if (resp3::is_aggregate(n.kind))
            text.append(" of ").append(std::to_string(n.size));
        text += '\n';
    }
    return text;
}

/// One execution, as an awaiting frame would hold it.
template <class Response = redis::generic_response> struct call {
    redis::request req;
    Response resp;
    redis::impl::exec_op op;
    int completions = 0;

    call() = default;
    template <class... Arguments> explicit call(std::string_view name, Arguments const&... arguments) {
        req.push(name, arguments...);
    }
    call(call const&) = delete;
    call& operator=(call const&) = delete;

    bool done() const { return completions == 1; }
    error_code error() const { return op.error(); }
};

/// The multiplexer between a test's calls and the bytes of a server that the test plays.
class multiplexer_bench {
public:
    explicit multiplexer_bench(redis::config const& cfg = {}) : mux(cfg) {
        mux.begin_generation();
        mux.open();
    }

    /// False when it was refused at once.
    template <class Response> bool add(call<Response>& c) {
        c.completions = 0;
        c.op.begin(nullptr, &c.req);
        auto const to = redis::impl::refer_to(c.resp);
        c.op.object = to.object;
        c.op.deliver = to.deliver;
        if (!mux.add(c.op))
            return false;
        pending_.push_back({&c.op, &c.completions});
        return true;
    }
    template <class Response> bool cancel(call<Response>& c) {
        if (!mux.cancel(c.op))
            return false;
        complete(c.op);
        return true;
    }

    /// Everything that waits, written at once.
    std::string flush() {
        std::string bytes(mux.next_output());
        if (!bytes.empty())
            mux.output_done();
        return bytes;
    }

    /// As one read; what is not consumed is fed again with the next.
    error_code feed(std::string_view bytes) {
        unread_.append(bytes);
        op_queue done;
        // A buffer of its own, freed afterwards: whoever keeps a view is found by the sanitizer.
        auto const read = std::make_unique<std::string>(unread_);
        auto const p = mux.on_bytes(*read, done);
        unread_.erase(0, p.consumed);
        complete(done);
        return p.ec;
    }
    error_code feed_in_pieces(std::string_view bytes, std::size_t piece) {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
            if (auto ec = feed(bytes.substr(0, piece)))
                return ec;
        return {};
    }
    void end(redis::impl::multiplexer::ending how) {
        op_queue done;
        mux.end_generation(how, done);
        complete(done);
        unread_.clear();
    }
    std::string pushes() {
        auto text = dump(mux.pushes());
        mux.pushes().clear();
        return text;
    }
    void complete(op_queue& done) {
        while (!done.empty())
            complete(*done.pop_front());
    }

    redis::impl::multiplexer mux;

private:
    void complete(op& o) {
        for (auto& [each, completions] : pending_)
            if (each == &o)
                ++*completions;
        std::erase_if(pending_, [&](auto& p) { return p.first == &o; });
    }
    std::vector<std::pair<op*, int*>> pending_;
    std::string unread_;
};

} // namespace fairlead::test
