// Configuration of a context at run time: numbers by section and key, from a text, the environment or a hint.
#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead {

/// Where a context's configuration comes from: of itself from nowhere. Derive from it for a source of your own.
class FAIRLEAD_EXPORT config_service : public execution_context::service {
public:
    using key_type = config_service; ///< one source for each context, whatever its class

    explicit config_service(execution_context& owner) noexcept : service(owner) {}
    ~config_service() override;
    /// The text of a value, or null when there is none. It may be written to `value`, which has `value_len` bytes.
    virtual char const* get_value(char const* section, char const* key_name, char* value, std::size_t value_len) const;

private:
    void shutdown() override {}
};

/// Reads the configuration of a context.
///
/// Nothing in this library depends on it: Asio's keys (sections scheduler, reactor, timer and resolver) are accepted,
/// can be read back, and change nothing. It is there for the services and objects of programs.
/// Lifetime   the context outlives it
/// Threads    any
class FAIRLEAD_EXPORT config {
public:
    explicit config(execution_context& c) : service_(&use_service<config_service>(c)) {}

    /// A number, in the forms that strtoll takes; of a bool 0 or 1. `fallback` when the context has none of that name.
    /// Errors     std::out_of_range    the text is no number, or one that T cannot hold
    template <std::integral T> T get(char const* section, char const* key_name, T fallback) const {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_unsigned_v<T>) {
            std::uint64_t n = fallback;
            return read({section, key_name}, n, limits::max()) ? static_cast<T>(n) : fallback;
        } else {
            std::int64_t n = fallback;
            return read({section, key_name}, n, limits::min(), limits::max()) ? static_cast<T>(n) : fallback;
        }
    }

private:
    struct name {
        char const* section;
        char const* key;
    };
    bool read(name of, std::uint64_t& n, std::uint64_t most) const;
    bool read(name of, std::int64_t& n, std::int64_t least, std::int64_t most) const;

    config_service const* service_;
};

/// Configuration from a text: `io_context context(config_from_string("section.key=1\n"));`. Each line holds
/// `section.key=value`, or `prefix.section.key=value` when there is a prefix. From # on a line is a comment; lines of
/// another form are ignored. Of several lines for one key the first counts.
class FAIRLEAD_EXPORT config_from_string : public execution_context::service_maker {
public:
    explicit config_from_string(std::string text, std::string prefix = {})
        : text_(std::move(text)),
          prefix_(std::move(prefix)) {}
    void make(execution_context& c) const override;

private:
    std::string text_;
    std::string prefix_;
};

/// Configuration from the environment: PREFIX_SECTION_KEY, in upper case. It is read whenever it is asked for.
class FAIRLEAD_EXPORT config_from_env : public execution_context::service_maker {
public:
    config_from_env();
    explicit config_from_env(std::string prefix) : prefix_(std::move(prefix)) {}
    void make(execution_context& c) const override;

private:
    std::string prefix_;
};

/// The configuration that Asio makes of a concurrency hint: scheduler.concurrency_hint and the .locking keys. Contexts
/// of this library find out by themselves how many threads run them. So io_context(hint) leaves no configuration
/// behind.
class FAIRLEAD_EXPORT config_from_concurrency_hint : public execution_context::service_maker {
public:
    static constexpr int none = -1, safe = -2, unsafe = -3, unsafe_io = -4;

    config_from_concurrency_hint() noexcept = default;
    explicit config_from_concurrency_hint(int hint) noexcept : hint_(hint) {}
    void make(execution_context& c) const override;

private:
    int hint_ = none;
};

} // namespace fairlead
