#!/bin/bash
# Runs a command beside an e2b-local of its own, with the variables that lead
# there, and ends both together.
#
#   with_local.sh COMMAND...      LOCAL_OPTIONS goes to e2b-local
set -u

unset E2B_API_URL E2B_SANDBOX_URL E2B_API_KEY E2B_DOMAIN E2B_DEBUG
exec 3< <(exec /usr/bin/python3 test/local --port 0 --exit-with-parent ${LOCAL_OPTIONS:-})
service=$!
while read -r line <&3; do
    case $line in
    export\ *) eval "$line" ;;
    *' is ready '*) break ;;
    esac
done
if [ -z "${E2B_API_URL:-}" ]; then
    echo "with_local.sh: e2b-local did not start" >&2
    exit 1
fi

"$@" 3<&-
status=$?
kill "$service" 2>/dev/null
wait "$service" 2>/dev/null
exit $status
