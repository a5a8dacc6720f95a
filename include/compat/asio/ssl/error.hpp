#pragma once

#include <fairlead/tls/error.hpp>

#include <asio/detail/brought_along.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
