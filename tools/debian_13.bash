# Packages of Debian 13, unpacked beside, never installed. Sourced by scripts that are called with a folder.
#
#   begin_unpacking FOLDER    leaves the script where that folder is complete; else sets `folder` and `apt`
#   unpack PACKAGE...         into the folder
#   complete                  says that all is there
#
# The mirror is the one that this machine is set up for; the signatures are checked with the archive's keys as apt
# checks its own. What could not be had is told in FOLDER/why, and is no failure: whoever needs it skips its part.
# shellcheck shell=bash

suite=trixie

give_up() {
    printf '%s\n' "$*" | tee "$folder/why"
    touch "$folder" # so that whoever looks at its age looks again
    exit 0
}

begin_unpacking() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror
    folder=$(mkdir -p "$1" && cd "$1" && pwd)
    [[ -e $folder/complete ]] && exit 0

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
}

unpack() {
    local package
    "${apt[@]}" download "$@" || give_up "the mirror does not give $* of $suite"
    for package in ./*.deb; do
        dpkg-deb -x "$package" "$folder"
    done
}

complete() {
    rm -f "$folder/why"
    touch "$folder/complete" "$folder"
}
