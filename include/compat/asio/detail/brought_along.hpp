// Names of Asio, the system and the standard library that Asio's headers of contexts and of I/O objects bring along:
// programs rely on them.
#pragma once

#include <fairlead/base/buffer_literals.hpp>
#include <fairlead/base/config.hpp>
#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/base/error.hpp>
#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/loop_clock.hpp>
#include <fairlead/legacy/any_executor.hpp>
#include <fairlead/legacy/blocking_adaptation.hpp>
#include <fairlead/legacy/config.hpp>
#include <fairlead/legacy/null_buffers.hpp>
#include <fairlead/legacy/wrapped_handler.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/async_operation.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/operation/default_token.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>

#include <asio/detail/execution_context_service_base.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>

#include <csignal>
#include <cstring>
#include <poll.h>

#include <any>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
