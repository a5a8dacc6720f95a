#!/usr/bin/env bash
# The tests of the Redis client, each with the servers of other versions (row X18 of the catalogue).
#
#   tests/interop/newer_servers.sh FOLDER PROGRAM...    FOLDER is that of tools/servers.sh; status 77: nothing is there
set -uo pipefail
folder=$1
shift
[[ -e $folder/complete ]] || { echo "No newer server is unpacked: ./dev servers does that" && exit 77; }

# The embedded server answers as redis 7.0. Newer servers send a push of DEBUG behind the reply, and the program has gone.
skipped=RealRedisAnswers.*:RedisProgram.ShowsTypesThatRedisCliDoesNot
status=0
for server in redis valkey; do
    "$folder/$server/redis-server" --version || status=1
    for program; do
        PATH=$folder/$server:$PATH "$program" --gtest_filter="-$skipped" --gtest_brief=1 || status=1
    done
done
exit $status
