#!/bin/bash
# Prints what the library costs: code by floor, the memory of a client, stack.
#
#   size.sh OUT      a build with gcc, -Os and -fcallgraph-info=su
set -eu

out=$1
echo "code and constants of libe2b.a, gcc $(gcc -dumpversion) -Os, $(uname -m), bytes:"
total=0
for part in lib/base lib/wire lib/cloud lib/envd lib/harness llhttp; do
    [ -d "$out/obj/$part" ] || continue
    bytes=$(size -A "$out/obj/$part"/*.o | awk '/^\.(text|rodata)/ { sum += $2 } END { print sum + 0 }')
    total=$((total + bytes))
    printf '%7d  %s\n' "$bytes" "$part"
done
printf '%7d  together\n' "$total"

echo
echo 'memory of a client, a sandbox and a process, bytes:'
gcc -std=c99 -Ilib test/house/memory.c -o "$out/memory"
"$out/memory"

echo
echo 'deepest call chain of lib/:'
/usr/bin/python3 test/house/stack.py "$out/obj" --deepest
if [ -f "$out/e2b" ]; then
    strip -o "$out/e2b.stripped" "$out/e2b"
    echo
    echo "the e2b command, stripped: $(stat -c %s "$out/e2b.stripped") bytes"
fi
