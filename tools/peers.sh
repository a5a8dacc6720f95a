#!/usr/bin/env bash
# Libraries that the benchmarks compare with and that are newer than the distribution's: the packages of Debian 13,
# unpacked beside, never installed.
#
#   tools/peers.sh FOLDER    FOLDER/usr/include has the headers, FOLDER/cobalt the sources of Boost.Cobalt
#
# The mirror is the one that this machine is set up for; the signatures are checked with the archive's keys as apt
# checks its own. What could not be had is told in FOLDER/why, and is no failure: the benchmarks then skip their rows.
set -euo pipefail

suite=trixie
packages=(libasio-dev libboost1.88-dev)
boost_source=boost1.88
keys=/usr/share/keyrings/debian-archive-keyring.gpg

folder=$(mkdir -p "${1:?a folder to unpack into}" && cd "$1" && pwd)
[[ -e $folder/complete ]] && exit 0

give_up() {
    printf '%s\n' "$*" | tee "$folder/why"
    touch "$folder" # so that whoever looks at its age looks again
    exit 0
}

command -v apt-get >/dev/null || give_up "this machine has no apt-get"
[[ -r $keys ]] || give_up "the keys of the Debian archive are not installed"
# Without lists of packages apt does not know its mirrors either.
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Identifier: Packages' | sed -n 's/^Debian //p' | head -n 1)
[[ $mirror ]] || give_up "apt is set up for no mirror of Debian, or has no lists of packages (apt-get update)"

state=$(mktemp -d "$folder/apt.XXXXXX")
trap 'rm -rf "$state"' EXIT
mkdir -p "$state"/{lists/partial,cache/archives/partial}
: >"$state/status"
printf '%s [signed-by=%s] %s %s main\n' deb $keys "$mirror" $suite deb-src $keys "$mirror" $suite >"$state/sources.list"
apt=(apt-get -q -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$state"
    -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User= -o Acquire::Retries=2
    -o Acquire::http::Timeout=30)
cd "$state"

"${apt[@]}" update || give_up "the lists of $suite cannot be had from the mirror"
"${apt[@]}" download "${packages[@]}" || give_up "the mirror does not give ${packages[*]} of $suite"
for package in ./*.deb; do
    dpkg-deb -x "$package" "$folder"
done

# The packages of Boost do not have Cobalt's library; its few sources are in the archive of all of Boost's.
"${apt[@]}" source --download-only $boost_source || give_up "the mirror does not give the sources of $boost_source"
mkdir -p "$folder/cobalt"
tar -xf ./"$boost_source"_*.orig.tar.* -C "$folder/cobalt" --strip-components=3 --wildcards '*/libs/cobalt/src' ||
    give_up "the sources of $boost_source cannot be unpacked"
rm -f "$folder/why"
touch "$folder/complete" "$folder"
