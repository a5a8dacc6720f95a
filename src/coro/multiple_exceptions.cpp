#include <fairlead/coro/multiple_exceptions.hpp>

namespace fairlead {

multiple_exceptions::~multiple_exceptions() = default;
char const* multiple_exceptions::what() const noexcept { return "multiple exceptions"; }

} // namespace fairlead
