// Asio keeps this class to itself; libraries for Asio derive their services from it all the same.
#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::detail {

/// A service with an id of its own: `class my_service : public execution_context_service_base<my_service>`.
template <class Service> class execution_context_service_base : public execution_context::service {
public:
    static inline execution_context::id id;

    explicit execution_context_service_base(execution_context& owner) : service(owner) {}
};

} // namespace fairlead::detail
