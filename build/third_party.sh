#!/bin/sh
# Copies llhttp and jsmn to DIR, so that every build sees them at one place,
# and writes the header that gives llhttp's functions private names.
#
#   third_party.sh DIR      reads LLHTTP_DIR and JSMN_DIR
set -eu

dir=$1

# The first of the named files that exists.
first() {
    for file; do
        if [ -f "$file" ]; then
            echo "$file"
            return
        fi
    done
}

roots=${LLHTTP_DIR:-/usr /usr/local}
header= sources=
for root in $roots; do
    header=$(first "$root/share/include/llhttp/llhttp.h" "$root/include/llhttp/llhttp.h" \
        "$root/include/llhttp.h" "$root/llhttp.h")
    source=$(first "$root/share/llhttp/llhttp.c" "$root/src/llhttp.c" "$root/llhttp.c")
    sources=${source%/*}
    [ -z "$header" ] || [ -z "$sources" ] || break
done
if [ -z "$header" ] || [ -z "$sources" ]; then
    echo "third_party.sh: no C sources of llhttp under $roots:" \
        "set LLHTTP_DIR to a folder with include/llhttp.h and src/{api,http,llhttp}.c" >&2
    exit 1
fi

jsmn=
for root in ${JSMN_DIR:-/usr/include /usr/local/include}; do
    jsmn=$(first "$root/jsmn.h" "$root/include/jsmn.h")
    [ -z "$jsmn" ] || break
done
if [ -z "$jsmn" ]; then
    echo "third_party.sh: no jsmn.h: set JSMN_DIR to the folder that holds it" >&2
    exit 1
fi

mkdir -p "$dir/llhttp" "$dir/jsmn"
cp "$header" "$sources/api.c" "$sources/http.c" "$sources/llhttp.c" "$dir/llhttp/"
cp "$jsmn" "$dir/jsmn/"

# Whatever llhttp calls or defines gets our prefix, in its own sources and in
# ours alike: a program can then link an llhttp of another version beside ours.
{
    echo '/* Generated: private names for the functions of llhttp. */'
    cat "$dir"/llhttp/*.c "$dir/llhttp/llhttp.h" |
        grep -Eo '\bllhttp_[A-Za-z0-9_]+ *\(' | tr -d ' (' | LC_ALL=C sort -u |
        sed 's/.*/#define & e2b_private_&/'
} >"$dir/llhttp_names.h.new"
mv "$dir/llhttp_names.h.new" "$dir/llhttp_names.h"
