// The base of everything that can run handlers.
#pragma once

#include <fairlead/base/config.hpp>

namespace fairlead {

class FAIRLEAD_EXPORT execution_context {
public:
    execution_context(execution_context const&) = delete;
    execution_context& operator=(execution_context const&) = delete;

protected:
    execution_context() noexcept = default;
    virtual ~execution_context();
};

} // namespace fairlead
