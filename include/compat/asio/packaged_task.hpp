#pragma once

#include <fairlead/token/packaged_task.hpp>

#include <asio/fairlead.hpp>
