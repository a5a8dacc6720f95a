#pragma once

#include <fairlead/exec/ts_members.hpp>

#include <asio/fairlead.hpp>
