#!/bin/bash
# The main job, shown: real commands in a sandbox of e2b-local. It is a test
# too: what they print and how they end is looked at.
set -eu
exec 3>&1

# Shows the command, then what it prints; `seen` keeps that.
show() {
    local word line='$ e2b'
    for word; do
        if [[ $word =~ ^[A-Za-z0-9_./-]+$ ]]; then line+=" $word"; else line+=" ${word@Q}"; fi
    done
    printf '\n%s\n' "$line" >&3
    seen=$("${E2B:-out/e2b}" "$@") || return
    [ -z "$seen" ] || printf '%s\n' "$seen"
}

# expect TEXT PATTERN: is what was seen what it should be?
expect() {
    # shellcheck disable=SC2053
    if [[ $1 != $2 ]]; then
        printf 'demo.sh: expected %s but saw %q\n' "$2" "$1" >&2
        exit 1
    fi
}

show run -- uname -a
expect "$seen" "$(uname -s) *"

show run -c 'echo $((6 * 7)); echo "this is standard error" >&2'
expect "$seen" 42

status=0
show run -c 'exit 3' || status=$?
echo "[exit status $status]"
expect "$status" 3

show run -- wc -c < <(head -c 100000 /dev/zero)
expect "$seen" 100000

show create
sandbox=$seen
show exec "$sandbox" -- sh -c 'echo kept between commands >note'
show exec "$sandbox" -- cat note
expect "$seen" 'kept between commands'
show list
expect "$seen" "*$sandbox*"
show kill "$sandbox"
show list
case $seen in
*"$sandbox"*) expect "$seen" 'a list without the sandbox that was killed' ;;
esac
