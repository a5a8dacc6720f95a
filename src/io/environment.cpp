#include <fairlead/io/environment.hpp>

#include <cstdlib>

namespace fairlead {

char const* io::environment_variable(char const* name) noexcept { return std::getenv(name); }

} // namespace fairlead
