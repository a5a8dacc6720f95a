#pragma once

#include <fairlead/tls/host_name_verification.hpp>

#include <asio/detail/brought_along.hpp>
