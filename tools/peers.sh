#!/usr/bin/env bash
# Libraries that the benchmarks compare with and that are newer than the distribution's.
#
#   tools/peers.sh FOLDER    FOLDER/usr/include has the headers, FOLDER/cobalt the sources of Boost.Cobalt
#
# The benchmarks skip the rows of what could not be had.
set -euo pipefail
# shellcheck source=tools/debian_13.bash
source "$(dirname "${BASH_SOURCE[0]}")/debian_13.bash"

boost_source=boost1.88

begin_unpacking "${1:?a folder to unpack into}"
unpack libasio-dev libboost1.88-dev

# The packages of Boost do not have Cobalt's library; its few sources are in the archive of all of Boost's.
"${apt[@]}" source --download-only $boost_source || give_up "the mirror does not give the sources of $boost_source"
mkdir -p "$folder/cobalt"
tar -xf ./"$boost_source"_*.orig.tar.* -C "$folder/cobalt" --strip-components=3 --wildcards '*/libs/cobalt/src' ||
    give_up "the sources of $boost_source cannot be unpacked"
complete
