// Asio's namespace, for programs that were written for it. One that reopens it, to specialise a trait, is compiled with
// -Dasio=fairlead instead, which the CMake target fairlead::asio_compat does. Every header includes this one, so it is
// as small as those of Asio that bring least.
#pragma once

#include <asio/detail/config.hpp>
#include <asio/detail/cstddef.hpp>
#include <asio/detail/type_traits.hpp>
