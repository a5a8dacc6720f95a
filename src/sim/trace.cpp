#include "trace.hpp"

namespace fairlead::sim {
namespace {

struct words {
    char const* verb;
    char const* second = nullptr; ///< what b is; null: nothing
    bool on_handle = true;        ///< a is a handle
    bool first_counts = true;     ///< a is worth reading
};

words words_of(what w) noexcept {
    switch (w) {
    case what::order: return {"ordered what is runnable", nullptr, false, false};
    case what::jump: return {"time passed", nullptr, false, false};
    case what::opened: return {"opened", "family"};
    case what::closed: return {"closed"};
    case what::bound: return {"bound", "port"};
    case what::sent: return {"sent", "bytes"};
    case what::arrived: return {"arrived", "bytes"};
    case what::received: return {"received", "bytes"};
    case what::finished: return {"end of stream"};
    case what::reset: return {"connection broke", "error"};
    case what::connected: return {"connected", "peer"};
    case what::refused: return {"refused", "error"};
    case what::accepted: return {"accepted", "peer"};
    case what::not_yet: return {"put off"};
    case what::failed: return {"failed", "error"};
    case what::cancelled: return {"cancelled", "kind"};
    case what::resolved: return {"look-up resolved", "addresses", false};
    case what::look_up_failed: return {"look-up failed", nullptr, false, false};
    case what::lost: return {"did not get what was sent"};
    case what::dropped: return {"datagram lost"};
    case what::started: return {"started the process", nullptr, false, false};
    case what::killed: return {"was killed", nullptr, false, false};
    case what::crashed: return {"crashed", nullptr, false, false};
    case what::paused: return {"was paused", nullptr, false, false};
    case what::resumed: return {"was resumed", nullptr, false, false};
    case what::starved: return {"ns without a turn", nullptr, false};
    case what::cut: return {"cannot reach any more", "host", false, false};
    case what::healed: return {"reaches again", "host", false, false};
    case what::signalled: return {"came as a signal", nullptr, false};
    case what::text: return {"", nullptr, false};
    }
    return {"?"};
}

} // namespace

std::string seconds(std::int64_t ns) {
    auto fraction = std::to_string(ns % 1'000'000'000);
    fraction.insert(0, 9 - fraction.size(), '0');
    return std::to_string(ns / 1'000'000'000) + '.' + fraction + " s";
}

void trace::note(std::int64_t at, std::uint32_t host, std::string_view text) {
    std::uint64_t hash = 0;
    for (char const c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    texts_[text_count_ % texts_kept] = text;
    note(at, host, what::text, text_count_++, hash);
}

void trace::append(std::string& lines, line const& l, std::string_view host_name) const {
    lines += "  " + seconds(l.at) + "  " + std::string(host_name) + "  ";
    if (l.w == what::text) {
        lines += l.a + texts_kept >= text_count_ ? texts_[l.a % texts_kept] : "(a note)";
    } else {
        auto const w = words_of(l.w);
        if (w.on_handle)
            lines += '#' + std::to_string(l.a) + ' ';
        else if (w.first_counts)
            lines += std::to_string(l.a) + ' ';
        lines += w.verb;
        if (w.second)
            lines += ", " + std::string(w.second) + ' ' + std::to_string(l.b);
    }
    lines += '\n';
}

} // namespace fairlead::sim
