#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <asio/high_resolution_timer.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_timer.hpp>
#include <asio/wait_traits.hpp>
