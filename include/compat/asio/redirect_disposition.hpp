#pragma once

#include <fairlead/token/redirect_disposition.hpp>

#include <asio/fairlead.hpp>
