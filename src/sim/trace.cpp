#include "trace.hpp"

namespace fairlead::sim {
namespace {

struct words {
    char const* verb;
    char const* second; ///< what b is; null: nothing
    bool on_handle;     ///< a is a handle
};

words words_of(what w) noexcept {
    switch (w) {
    case what::order: return {"ordered", "hash", false};
    case what::jump: return {"time passed", nullptr, false};
    case what::opened: return {"opened", "family", true};
    case what::closed: return {"closed", nullptr, true};
    case what::bound: return {"bound", "port", true};
    case what::sent: return {"sent", "bytes", true};
    case what::arrived: return {"arrived", "bytes", true};
    case what::received: return {"received", "bytes", true};
    case what::finished: return {"end of stream", nullptr, true};
    case what::reset: return {"reset", nullptr, true};
    case what::connected: return {"connected", "peer", true};
    case what::refused: return {"refused", "error", true};
    case what::accepted: return {"accepted", "peer", true};
    case what::not_yet: return {"put off", nullptr, true};
    case what::failed: return {"failed", "error", true};
    case what::cancelled: return {"cancelled", "kind", true};
    case what::resolved: return {"resolved", "addresses", false};
    case what::entropy: return {"entropy", nullptr, false};
    }
    return {"?", nullptr, false};
}

} // namespace

std::string seconds(std::int64_t ns) {
    auto fraction = std::to_string(ns % 1'000'000'000);
    fraction.insert(0, 9 - fraction.size(), '0');
    return std::to_string(ns / 1'000'000'000) + '.' + fraction + " s";
}

std::string trace::last_lines() const {
    std::string text;
    for (auto i = count_ < kept ? 0 : count_ - kept; i != count_; ++i) {
        line const& l = last_[i % kept];
        auto const w = words_of(l.w);
        text += "  " + seconds(l.at) + "  " + (w.on_handle ? "#" : "") + std::to_string(l.a) + ' ' + w.verb;
        if (w.second)
            text += ", " + std::string(w.second) + ' ' + std::to_string(l.b);
        text += '\n';
    }
    return text;
}

} // namespace fairlead::sim
