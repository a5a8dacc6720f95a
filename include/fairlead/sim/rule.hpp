// The faults of a simulated world, by name. The rate is a number of 1024, drawn from the seed or set by a test.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::sim {

/// Something that the simulated world may do to a program.
enum class rule : std::uint8_t {
    // A correct program notices nothing of these but time. The seed decides which are on, and how often they happen.
    reorder,     ///< what is runnable runs in another order
    not_ready,   ///< an operation that could complete at once is put off
    short_read,  ///< a read gets less than is there for it
    short_write, ///< a write is taken less from than there is space for
    late_cancel, ///< a cancelled operation completes later, with its result if that comes first
    spike,       ///< a message takes eight times as long
    starve,      ///< a host gets no turn for up to ten milliseconds

    // Between hosts, what every network does to datagrams; a stream that loses a segment sends it again, which takes
    // 200 ms. The seed decides.
    loss,      ///< a datagram or segment is lost
    copy,      ///< a datagram arrives twice
    overtaken, ///< a datagram takes so long that later ones overtake it

    // Faults that a program must expect, but that not every test wants. Off until world::allow() or world::set().
    reset,           ///< a connection breaks; asked with every transfer
    refuse,          ///< a connection attempt is refused
    unreachable,     ///< … finds no route to the host
    unanswered,      ///< … gets no answer
    accept_error,    ///< an accepted connection is gone again, or there is no descriptor for it
    no_buffers,      ///< a transfer fails with ENOBUFS; the connection stays
    no_descriptor,   ///< a socket cannot be opened: EMFILE
    look_up_failure, ///< a look-up fails, for now or for good
    look_up_delay,   ///< a look-up takes five seconds
    disk_error,      ///< an operation on a file fails: EIO
    disk_full,       ///< a file cannot grow: ENOSPC
};
/// How many there are.
inline constexpr std::size_t rules = 21;
/// From this one on they are off until a test allows or sets them.
inline constexpr std::size_t first_drastic_rule = static_cast<std::size_t>(rule::reset);

/// Of 1024: always.
inline constexpr std::uint32_t always = 1024;

/// The rule's name as it stands above.
FAIRLEAD_EXPORT std::string_view name_of(rule r) noexcept;

} // namespace fairlead::sim
