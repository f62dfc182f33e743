#!/bin/bash
# Runs test programs and counts what they report.
#
#   run.sh STAGE PROGRAM...
#
# A program is a cmocka binary or a .sh or .py script. It reports in TAP (as
# cmocka does here), with a last line "N passed, N failed", as Python's unittest
# does, or by its exit status alone; 77 means skipped, for the reason in its
# last line. Logs go to OUT/results/STAGE, the counts to OUT/results/STAGE.count;
# OUT is out/ if unset.
#
# EMULATOR runs the binaries, WRAP everything, JOBS of them at a time. LIMIT ends a program that
# hangs, after that many seconds.
set -u

stage=$1
shift
results=${OUT:-out}/results/$stage
jobs=${JOBS:-$(nproc)}
limit=${LIMIT:-1200}

rm -rf "$results" "$results.count"
mkdir -p "$results"
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR CMOCKA_MESSAGE_OUTPUT=TAP

count() { # LOG STATUS: prints passed, failed, skipped
    awk -v status="$2" '
        /^(not )?ok [0-9]+.*# SKIP/ { skipped++; next }
        /^ok [0-9]+/ { passed++ }
        /^not ok [0-9]+/ { failed++ }
        /^1\.\.[0-9]+$/ { planned += substr($0, 4); tap = 1 }
        /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { summed = 1; p = $1; f = $3; s = $5 + 0 }
        /^Ran [0-9]+ tests? in / { ran = $2; python = 1 }
        python && match($0, /failures=[0-9]+/) { bad += substr($0, RSTART + 9, RLENGTH - 9) }
        python && match($0, /errors=[0-9]+/) { bad += substr($0, RSTART + 7, RLENGTH - 7) }
        python && match($0, /skipped=[0-9]+/) { s += substr($0, RSTART + 8, RLENGTH - 8) }
        END {
            if (status == 77) { print 0, 0, 1; exit }
            if (summed) { passed = p; failed = f; skipped = s }
            else if (python) { passed = ran - bad - s; failed = bad; skipped = s }
            else if (tap && planned > passed + failed + skipped) failed = planned - passed - skipped
            else if (!tap && status == 0) passed = 1
            if (status != 0 && failed == 0) failed = 1
            print passed + 0, failed + 0, skipped + 0
        }' "$1"
}

run() { # PROGRAM
    local program=$1 name log status command start=$SECONDS
    name=$(basename "$program")
    log=$results/$name.log
    case $program in
    *.py) command=(/usr/bin/python3 "$program") ;;
    *.sh) command=(bash "$program") ;;
    *) command=(${EMULATOR:-} "$program") ;;
    esac
    timeout -k 10 "$limit" ${WRAP:-} "${command[@]}" >"$log" 2>&1 </dev/null
    status=$?
    [ $status -ne 124 ] || echo "$name: ended after $limit seconds" >>"$log"
    count "$log" "$status" >"$results/$name.count"
    read -r passed failed skipped <"$results/$name.count"
    local line
    line=$(printf '%-28s %4d passed %3d failed' "$name" "$passed" "$failed")
    [ "$skipped" -eq 0 ] || line+=$(printf ' %3d skipped' "$skipped")
    [ "$status" -ne 77 ] || line+=" ($(tail -n 1 "$log"))"
    line+=$(printf '  %ds' $((SECONDS - start)))
    if [ "$failed" -gt 0 ]; then
        line+=$(printf ' (exit status %d)\n' "$status"; grep -av '^ok ' "$log" | tail -n 60 | cut -c1-300 | tr -d '\0' | sed 's/^/    /')
    fi
    printf '%s\n' "$line"
}

echo "== $stage"
for program; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    run "$program" &
done
wait

cat "$results"/*.count 2>/dev/null |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' >"$results.count"
read -r passed failed skipped <"$results.count"
echo "$stage: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
