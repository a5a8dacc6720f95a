// multiple_exceptions: thrown where several parts of a group have failed and one exception is to stand for all.
#pragma once

#include <fairlead/base/config.hpp>

#include <exception>
#include <utility>

namespace fairlead {

/// As Asio's class of that name: the operators && and || of awaitables throw it when both sides have failed.
class FAIRLEAD_EXPORT multiple_exceptions : public std::exception {
public:
    explicit multiple_exceptions(std::exception_ptr first) noexcept : first_(std::move(first)) {}
    multiple_exceptions(multiple_exceptions const&) = default;
    multiple_exceptions& operator=(multiple_exceptions const&) = default;
    ~multiple_exceptions() override;

    char const* what() const noexcept override;
    std::exception_ptr first_exception() const { return first_; }

private:
    std::exception_ptr first_;
};

} // namespace fairlead
