#!/usr/bin/env bash
# Servers that are newer than the distribution's: redis-server 8.0 and valkey-server 8.1 of Debian 13.
#
#   tools/servers.sh FOLDER    FOLDER/redis/redis-server and FOLDER/valkey/redis-server start them
set -euo pipefail
# shellcheck source=tools/debian_13.bash
source "$(dirname "${BASH_SOURCE[0]}")/debian_13.bash"

begin_unpacking "${1:?a folder to unpack into}"
# With the libraries that they name, and the loader, for those of the distribution are too old.
unpack redis-server redis-tools valkey-server valkey-tools libc6 libstdc++6 libgcc-s1 libatomic1 libssl3t64 libjemalloc2 \
    liblzf1 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 liblz4-1 libzstd1 zlib1g

libraries=("$folder"/usr/lib/*-linux-gnu*)
loader=("$folder"/usr/lib*/ld-linux-*)
for name in redis valkey; do
    mkdir -p "$folder/$name"
    printf '#!/bin/sh\nexec "%s" --argv0 redis-server --library-path "%s" "%s" "$@"\n' \
        "${loader[0]}" "${libraries[0]}" "$folder/usr/bin/$name-server" >"$folder/$name/redis-server"
    chmod +x "$folder/$name/redis-server"
    "$folder/$name/redis-server" --version || give_up "the $name-server of $suite does not start here"
done
complete
