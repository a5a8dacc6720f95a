// Name look-ups: the hosts, and what a test adds.
#pragma once

#include "part.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::sim {

class zone : private part {
public:
    explicit zone(shared_state& s) noexcept : part(s) {}

    void add(std::string_view name, ip::address const& a, std::chrono::nanoseconds ttl);
    void remove(std::string_view name);

    void resolve(host_state& m, io::resolve_op& o) noexcept;
    void cancel(io::resolve_op& o) noexcept;
    /// At once.
    void look_up(host_state& m, io::resolve_op& o) noexcept;
    void take_pending(host_state const& m, op_queue& into) noexcept;
    /// The event of a look-up.
    void answer(std::uint32_t number) noexcept;

private:
    struct entry {
        std::string name;
        ip::address address;
        std::chrono::nanoseconds ttl;
    };
    struct pending_look_up {
        std::uint32_t number;
        io::resolve_op* o;
        host_state* asker;
    };

    void look_up_name(io::resolve_op& o) noexcept;

    std::vector<entry> entries_;
    std::vector<pending_look_up> look_ups_;
    std::uint32_t look_up_count_ = 0;
};

} // namespace fairlead::sim
