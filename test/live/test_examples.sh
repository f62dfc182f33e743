#!/bin/bash
# The programs of docs/examples do what they say, and the README shows the first as it is.
set -u
out=${E2B_OUT:-out}
passed=0 failed=0

check() { # NAME, then a command that succeeds
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok - $name"
    else
        failed=$((failed + 1))
        echo "not ok - $name"
    fi
}

says() { # TEXT COMMAND...: its output has a line with TEXT
    local text=$1
    shift
    "$@" </dev/null | grep -q -- "$text"
}

streams() { # what goes through a program in a sandbox comes back
    local sum
    sum=$(head -c 1000000 /dev/urandom | tee "$folder/in" | "$out/examples/stream" cat | md5sum)
    [ "$sum" = "$(md5sum <"$folder/in")" ]
}

exit_code() {
    "$out/examples/stream" sh -c 'exit 7' </dev/null
    [ $? = 7 ]
}

all_eight() {
    local lines
    lines=$("$out/examples/many") || return 1
    [ "$(grep -c 'says hello' <<<"$lines")" = 8 ] && [ "$(grep -c '^pid .*: exit' <<<"$lines")" = 8 ]
}

# The README's program is the example without its first comment and shows the same words.
in_readme() {
    diff <(sed -n '/^#include/,$p' docs/examples/run.c) \
        <(sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d') >&2
}

nothing_left() { [ "$("$out/e2b" list --json | tr -d ' \n')" = '[]' ]; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check 'run prints what the command says' says '^\[exit 0\]$' "$out/examples/run"
check 'stream gives back what went in' streams
check 'stream ends with the exit code' exit_code
check 'many hears all of them' all_eight
check 'no example leaves a sandbox' nothing_left
check 'the README shows run.c' in_readme
echo "$passed passed, $failed failed"
[ $failed = 0 ]
