#include <fairlead/base/error.hpp>

#include <fairlead/base/disposition_traits.hpp>

#include <string>

namespace fairlead {
namespace {

struct entry {
    int value;
    char const* message;
};

/// A category whose messages are one table: name, then value -> sentence.
template <std::size_t N> class table_category : public error_category {
public:
    constexpr table_category(char const* name, entry const (&entries)[N]) : name_(name), entries_(entries) {}
    char const* name() const noexcept override { return name_; }
    std::string message(int value) const override {
        for (auto const& e : entries_)
            if (e.value == value)
                return e.message;
        return std::string(name_) + " error " + std::to_string(value);
    }

private:
    char const* name_;
    entry const (&entries_)[N];
};

constexpr entry misc_table[] = {
    {error::already_open, "Already open"},
    {error::eof, "End of file"},
    {error::not_found, "Element not found"},
    {error::fd_set_failure, "The descriptor does not fit into the select call's fd_set"},
};
constexpr entry netdb_table[] = {
    {error::host_not_found, "Host not found (authoritative)"},
    {error::host_not_found_try_again, "Host not found (non-authoritative), try again later"},
    {error::no_data, "The query is valid, but it does not have associated data"},
    {error::no_recovery, "A non-recoverable error occurred during database lookup"},
};
constexpr entry addrinfo_table[] = {
    {error::service_not_found, "Service not found"},
    {error::socket_type_not_supported, "Socket type not supported"},
};
constexpr entry channel_table[] = {
    {error::channel_closed, "Channel closed"},
    {error::channel_cancelled, "Channel cancelled"},
};

/// A wait that was cancelled is the same to those who ask for a condition, whatever has waited.
class channel_category final : public table_category<std::size(channel_table)> {
public:
    channel_category() : table_category("fairlead.channel", channel_table) {}
    error_condition default_error_condition(int value) const noexcept override {
        if (value == error::channel_cancelled)
            return make_error_condition(static_cast<impl::base::errc_t>(std::errc::operation_canceled));
        return {value, *this};
    }
};

} // namespace

namespace error {

error_category const& get_misc_category() noexcept {
    static table_category<std::size(misc_table)> const instance{"fairlead.misc", misc_table};
    return instance;
}
error_category const& get_netdb_category() noexcept {
    static table_category<std::size(netdb_table)> const instance{"fairlead.netdb", netdb_table};
    return instance;
}
error_category const& get_addrinfo_category() noexcept {
    static table_category<std::size(addrinfo_table)> const instance{"fairlead.addrinfo", addrinfo_table};
    return instance;
}

error_category const& get_channel_category() noexcept {
    static channel_category const instance;
    return instance;
}

} // namespace error

bool impl::base::is_error_of_cancelled(error_code const& ec) noexcept {
    return ec == error::make_error_code(error::operation_aborted) ||
           ec == error::make_error_code(error::channel_cancelled);
}

std::exception_ptr disposition_traits<error_code>::to_exception_ptr(error_code const& ec) noexcept {
    return ec ? std::make_exception_ptr(system_error(ec)) : nullptr;
}

void impl::base::throw_error_now(error_code const& ec, char const* what) { throw system_error(ec, what); }

} // namespace fairlead
