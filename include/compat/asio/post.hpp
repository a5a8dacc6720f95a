#pragma once

#include <fairlead/token/post.hpp>

#include <asio/fairlead.hpp>
