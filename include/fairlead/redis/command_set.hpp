// All typed commands as members of a class that executes commands: `client.get("key")`.
#pragma once

#include <fairlead/redis/members/bitmaps.hpp>
#include <fairlead/redis/members/functions.hpp>
#include <fairlead/redis/members/geo.hpp>
#include <fairlead/redis/members/hashes.hpp>
#include <fairlead/redis/members/hyperloglog.hpp>
#include <fairlead/redis/members/keys.hpp>
#include <fairlead/redis/members/lists.hpp>
#include <fairlead/redis/members/pubsub.hpp>
#include <fairlead/redis/members/scripting.hpp>
#include <fairlead/redis/members/server.hpp>
#include <fairlead/redis/members/sets.hpp>
#include <fairlead/redis/members/sorted_sets.hpp>
#include <fairlead/redis/members/streams.hpp>
#include <fairlead/redis/members/strings.hpp>

namespace fairlead::redis {

/// Base of a class that executes commands, with each function of redis::cmd as a member. Derived has a public member
/// `call`, which takes a `command<Result>&&` and returns whatever its users await. A class that needs a few groups
/// only derives from these.
template <class Derived> class command_set : public bitmaps_of<Derived>,
                                             public function_commands_of<Derived>,
                                             public geo_of<Derived>,
                                             public hashes_of<Derived>,
                                             public hyperloglog_of<Derived>,
                                             public keys_of<Derived>,
                                             public lists_of<Derived>,
                                             public pubsub_of<Derived>,
                                             public scripting_of<Derived>,
                                             public server_commands_of<Derived>,
                                             public sets_of<Derived>,
                                             public sorted_sets_of<Derived>,
                                             public streams_of<Derived>,
                                             public strings_of<Derived> {
protected:
    command_set() = default;
    ~command_set() = default;
    command_set(command_set const&) = default;
    command_set& operator=(command_set const&) = default;
};

} // namespace fairlead::redis
