#!/bin/bash
# The main job, shown: real commands in a sandbox of e2b-local. It is a test
# too: what they print and how they end is looked at.
set -eu

e2b() {
    printf '\n$ e2b' >&3
    printf ' %q' "$@" >&3
    printf '\n' >&3
    "${E2B:-out/e2b}" "$@"
}

# expect WHAT SEEN
expect() {
    if [ "$1" != "$2" ]; then
        printf 'demo.sh: expected %q but saw %q\n' "$1" "$2" >&2
        exit 1
    fi
}

exec 3>&1
system=$(e2b run -- uname -a | tee /dev/fd/3)
expect "$(uname -s)" "${system%% *}"

answer=$(e2b run -c 'echo $((6 * 7)); echo "to standard error" >&2' | tee /dev/fd/3)
expect 42 "$answer"

status=0
e2b run -c 'exit 3' || status=$?
echo "[exit status $status]"
expect 3 "$status"

counted=$(head -c 100000 /dev/urandom | e2b run -- wc -c | tee /dev/fd/3)
expect 100000 "${counted// /}"

sandbox=$(e2b create | tee /dev/fd/3)
e2b exec "$sandbox" -- sh -c 'echo kept between commands >note'
note=$(e2b exec "$sandbox" -- cat note | tee /dev/fd/3)
expect 'kept between commands' "$note"

e2b list
e2b kill "$sandbox"
left=$(e2b list --json)
case $left in
*"$sandbox"*) expect 'no sandbox left' "$left" ;;
esac
