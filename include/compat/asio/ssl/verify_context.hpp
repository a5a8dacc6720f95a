#pragma once

#include <fairlead/tls/verify_context.hpp>

#include <asio/detail/brought_along.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
