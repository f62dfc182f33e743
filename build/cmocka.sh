#!/bin/sh
# Puts cmocka's source, from the distribution's source package, into DIR.
#
#   cmocka.sh DIR
#
# Test programs for another machine need a cmocka built for it. Adding that
# machine's packages to the system would change the system, so apt-get is given
# a configuration of its own beside DIR: the system's archive and keys, source
# packages only. It needs no root.
set -eu

dir=$1
fail() {
    echo "cmocka.sh: $1: set CMOCKA_DIR to cmocka's source (with include/ and src/)" >&2
    exit 1
}

[ -r /etc/os-release ] || fail 'not a Debian machine'
. /etc/os-release
command -v apt-get >/dev/null || fail 'no apt-get'

apt=$(mkdir -p "$dir" && cd "$dir/.." && pwd)/apt
rm -rf "$apt"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$apt/source"

# The entries of the release itself, without its updates and without others'.
for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    awk -v RS= -v suite="$VERSION_CODENAME" '
        /(^|\n)Enabled: *no/ { next }
        match($0, /(^|\n)Suites:[^\n]*/) {
            line = substr($0, RSTART, RLENGTH)
            if (line !~ "[: ]" suite "( |$)") next
            sub(/(^|\n)Suites:[^\n]*/, "\nSuites: " suite)
            sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src")
            sub(/^\n+/, "")
            print $0 "\n"
        }' "$file" >>"$apt/parts/release.sources"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    awk -v suite="$VERSION_CODENAME" '
        $1 == "deb" && index($0 " ", " " suite " ") { $1 = "deb-src"; print }' "$file" >>"$apt/parts/release.list"
done

echo "fetching cmocka's source package"
options="-q -o Dir::State::lists=$apt/lists -o Dir::Cache=$apt/cache
    -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$apt/parts
    -o Acquire::Languages=none -o APT::Sandbox::User=root"
log=$apt/log
# shellcheck disable=SC2086
(
    apt-get $options update && cd "$apt/source" && apt-get $options source --download-only cmocka
) >"$log" 2>&1 </dev/null || {
    tail -n 5 "$log" >&2
    fail "its source package can't be fetched"
}
for archive in "$apt"/source/cmocka_*.orig.tar.*; do
    case $archive in
    *.asc) ;;
    *) tar -xf "$archive" -C "$dir" --strip-components=1 ;;
    esac
done
rm -rf "$apt"
