#!/bin/bash
# Runs the test stages, goes on after a failure, and closes with the sum of all.
#
#   test.sh SKIP STAGE...
set -u

skip=$1
shift
results=${OUT:-out}/results
mkdir -p "$results"
case ${MAKEFLAGS:-} in
*jobserver*) jobs= ;;
*) jobs=-j$(nproc) ;;
esac

total_passed=0 total_failed=0 total_skipped=0
for stage; do
    case " $skip " in
    *" $stage "*)
        echo "== $stage: skipped (SKIP)"
        continue
        ;;
    esac
    rm -f "$results/$stage.count"
    # What can be built is tested, whatever else fails to build.
    ${MAKE:-make} --no-print-directory -k $jobs "test-$stage"
    status=$?
    passed=0 failed=0 skipped=0
    if [ -f "$results/$stage.count" ]; then
        read -r passed failed skipped <"$results/$stage.count"
    fi
    if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
        echo "$stage: failed beside its tests; where its tools can't be had, leave it out: make test SKIP=$stage"
        failed=1
    fi
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
done

if [ $total_skipped -gt 0 ]; then
    echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
else
    echo "$total_passed passed, $total_failed failed"
fi
[ $total_failed -eq 0 ]
