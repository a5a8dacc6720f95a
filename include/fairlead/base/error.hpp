// Errors: the aliases through which every other file spells error_code, and the values that errno lacks.
#pragma once

#include <fairlead/base/config.hpp>

#include <system_error>
#if FAIRLEAD_BOOST_ERROR_CODE
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#endif

namespace fairlead {

namespace impl::base {

/// Where error codes come from: for specialisations, which an alias of a single name does not allow.
#if FAIRLEAD_BOOST_ERROR_CODE
namespace error_codes = boost::system;
using boost::system::errc::errc_t;
#else
namespace error_codes = std;
using errc_t = std::errc;
#endif

} // namespace impl::base

/// The standard library's, or Boost's (FAIRLEAD_BOOST_ERROR_CODE): so are the four names below.
using impl::base::error_codes::error_category;
/// The result of an operation. True when it holds an error.
using impl::base::error_codes::error_code;
/// To be compared with codes of several sources.
using impl::base::error_codes::error_condition;
/// A function: the category of errno values.
using impl::base::error_codes::system_category;
/// Thrown in place of an error code; code() has it.
using impl::base::error_codes::system_error;

namespace impl::base {

inline error_code code_of(std::errc e) noexcept { return make_error_code(static_cast<errc_t>(e)); }

} // namespace impl::base

namespace error {

/// The errno values that users of sockets compare with, by their usual names (category: system).
enum basic_errors {
    access_denied = static_cast<int>(std::errc::permission_denied),
    address_family_not_supported = static_cast<int>(std::errc::address_family_not_supported),
    address_in_use = static_cast<int>(std::errc::address_in_use),
    already_connected = static_cast<int>(std::errc::already_connected),
    already_started = static_cast<int>(std::errc::connection_already_in_progress),
    bad_descriptor = static_cast<int>(std::errc::bad_file_descriptor),
    broken_pipe = static_cast<int>(std::errc::broken_pipe),
    connection_aborted = static_cast<int>(std::errc::connection_aborted),
    connection_refused = static_cast<int>(std::errc::connection_refused),
    connection_reset = static_cast<int>(std::errc::connection_reset),
    fault = static_cast<int>(std::errc::bad_address),
    host_unreachable = static_cast<int>(std::errc::host_unreachable),
    in_progress = static_cast<int>(std::errc::operation_in_progress),
    interrupted = static_cast<int>(std::errc::interrupted),
    invalid_argument = static_cast<int>(std::errc::invalid_argument),
    message_size = static_cast<int>(std::errc::message_size),
    name_too_long = static_cast<int>(std::errc::filename_too_long),
    network_down = static_cast<int>(std::errc::network_down),
    network_reset = static_cast<int>(std::errc::network_reset),
    network_unreachable = static_cast<int>(std::errc::network_unreachable),
    no_buffer_space = static_cast<int>(std::errc::no_buffer_space),
    no_descriptors = static_cast<int>(std::errc::too_many_files_open),
    no_memory = static_cast<int>(std::errc::not_enough_memory),
    no_permission = static_cast<int>(std::errc::operation_not_permitted),
    no_protocol_option = static_cast<int>(std::errc::no_protocol_option),
    no_such_device = static_cast<int>(std::errc::no_such_device),
    not_connected = static_cast<int>(std::errc::not_connected),
    not_socket = static_cast<int>(std::errc::not_a_socket),
    operation_aborted = static_cast<int>(std::errc::operation_canceled),
    operation_not_supported = static_cast<int>(std::errc::operation_not_supported),
    shut_down = 108, // ESHUTDOWN: no std::errc has it.
    timed_out = static_cast<int>(std::errc::timed_out),
    try_again = static_cast<int>(std::errc::resource_unavailable_try_again),
    would_block = static_cast<int>(std::errc::operation_would_block),
};

/// Results of streams and searches that no errno names (category: fairlead.misc).
enum misc_errors {
    already_open = 1, ///< open() on an object that is open: close it first.
    eof,              ///< The peer finished sending; everything before it was delivered.
    not_found,        ///< The delimiter is not within max_size() bytes, or an empty range was given to connect.
    fd_set_failure,   ///< Kept for source compatibility; never produced.
};

/// Name look-up, host part (category: fairlead.netdb). The values are those of <netdb.h> (HOST_NOT_FOUND and so on).
enum netdb_errors {
    host_not_found = 1,           ///< The name does not exist.
    host_not_found_try_again = 2, ///< The name server did not answer: try again later.
    no_data = 4,                  ///< The name exists but has no address of the wanted family.
    no_recovery = 3,              ///< The name server refused or failed.
};

/// Name look-up, service part (category: fairlead.addrinfo). The values are those of <netdb.h> (EAI_SERVICE,
/// EAI_SOCKTYPE).
enum addrinfo_errors {
    service_not_found = -8,         ///< No such service name: give a port number.
    socket_type_not_supported = -7, ///< The service is not offered for this protocol.
};

/// Channels (category: fairlead.channel). The condition of channel_cancelled is that of operation_aborted.
enum channel_errors {
    channel_closed = 1,    ///< Nothing can be sent any more, and all that was sent has been received.
    channel_cancelled = 2, ///< The wait has been cancelled, by itself or with all others; nothing was sent or received.
};

/// The category of misc_errors.
FAIRLEAD_EXPORT error_category const& get_misc_category() noexcept;
/// The category of netdb_errors.
FAIRLEAD_EXPORT error_category const& get_netdb_category() noexcept;
/// The category of addrinfo_errors.
FAIRLEAD_EXPORT error_category const& get_addrinfo_category() noexcept;
/// The category of channel_errors.
FAIRLEAD_EXPORT error_category const& get_channel_category() noexcept;
/// The category of basic_errors: system_category().
inline error_category const& get_system_category() noexcept { return impl::base::error_codes::system_category(); }

/// Called by `error_code ec = error::eof`, and by comparisons.
inline error_code make_error_code(basic_errors e) noexcept { return {static_cast<int>(e), get_system_category()}; }
inline error_code make_error_code(misc_errors e) noexcept { return {static_cast<int>(e), get_misc_category()}; }
inline error_code make_error_code(netdb_errors e) noexcept { return {static_cast<int>(e), get_netdb_category()}; }
inline error_code make_error_code(addrinfo_errors e) noexcept { return {static_cast<int>(e), get_addrinfo_category()}; }
inline error_code make_error_code(channel_errors e) noexcept { return {static_cast<int>(e), get_channel_category()}; }

} // namespace error

namespace impl::base {

FAIRLEAD_EXPORT bool is_error_of_cancelled(error_code const& ec) noexcept;
/// The wait for something ended because somebody asked it to.
inline bool is_cancelled(error_code const& ec) noexcept { return ec && is_error_of_cancelled(ec); }

/// Throws system_error(ec, what) when ec is set: the one way in which a throwing overload fails.
[[noreturn]] FAIRLEAD_EXPORT void throw_error_now(error_code const& ec, char const* what);
inline void throw_error(error_code const& ec, char const* what) {
    if (ec) [[unlikely]]
        throw_error_now(ec, what);
}

} // namespace impl::base
} // namespace fairlead

template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::basic_errors>
    : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::misc_errors>
    : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::netdb_errors>
    : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::addrinfo_errors>
    : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::channel_errors>
    : std::true_type {};
