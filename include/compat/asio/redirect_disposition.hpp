#pragma once

#include <fairlead/base/disposition.hpp>
#include <fairlead/token/redirect_disposition.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
