// All typed commands. Each group has a header of its own, which a program may include instead.
#pragma once

#include <fairlead/redis/cmd/bitmaps.hpp>
#include <fairlead/redis/cmd/functions.hpp>
#include <fairlead/redis/cmd/geo.hpp>
#include <fairlead/redis/cmd/hashes.hpp>
#include <fairlead/redis/cmd/hyperloglog.hpp>
#include <fairlead/redis/cmd/keys.hpp>
#include <fairlead/redis/cmd/lists.hpp>
#include <fairlead/redis/cmd/pubsub.hpp>
#include <fairlead/redis/cmd/scripting.hpp>
#include <fairlead/redis/cmd/server.hpp>
#include <fairlead/redis/cmd/sets.hpp>
#include <fairlead/redis/cmd/sorted_sets.hpp>
#include <fairlead/redis/cmd/streams.hpp>
#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/cmd/transactions.hpp>
