// Programs that include this link fairlead::tls.
#pragma once

#include <fairlead/tls/context.hpp>
#include <fairlead/tls/error.hpp>
#include <fairlead/tls/host_name_verification.hpp>
#include <fairlead/tls/stream.hpp>

#include <asio/detail/brought_along.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
