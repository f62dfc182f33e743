#!/bin/bash
# The house rules that a machine can check, one TAP line each.
#
# It looks at OUT/gcc, the build of `make CONFIG=gcc`; OUT is out/ if unset.
set -u
shopt -s nullglob

root=${OUT:-out}
out=$root/gcc
checks=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# verdict NAME <FINDINGS: passes if there are none, else shows them.
verdict() {
    local found
    found=$(cat)
    checks=$((checks + 1))
    if [ -z "$found" ]; then
        echo "ok $checks - $1"
    else
        echo "not ok $checks - $1"
        head -n 40 <<<"$found" | cut -c1-200 | sed 's/^/# /'
    fi
}

skip() { # NAME REASON
    checks=$((checks + 1))
    echo "ok $checks - $1 # SKIP $2"
}

# The file without comments, strings and character constants; lines keep their numbers.
code_of() {
    /usr/bin/python3 - "$1" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
blank = lambda match: "\n" * match.group().count("\n") or " "
lines = token.sub(blank, text).split("\n")
for number, line in enumerate(lines, 1):
    if line.strip():
        print(f"{sys.argv[1]}:{number}: {line}")
PYTHON
}

# Which folders of lib/ each floor may include from. The harness sees the
# floors below it through e2b.h only.
floors_of() {
    case $1 in
    base) echo base ;;
    wire) echo base wire ;;
    cloud) echo base wire cloud ;;
    envd) echo base wire envd ;;
    harness) echo base harness ;;
    esac
}

floors() {
    local file floor target line allowed
    for file in lib/*/*.[ch]; do
        floor=$(basename "$(dirname "$file")")
        allowed=" $(floors_of "$floor") "
        [ "$allowed" != '  ' ] || echo "$file: lib/ has no floor named $floor"
        while read -r line; do
            target=$(dirname "$file")/$line
            [ -e "$target" ] || target=lib/$line
            target=$(realpath -m --relative-to=lib "$target")
            case $target in
            e2b.h|e2b_error.h) ;;
            e2b_port.h) [ "$floor" != base ] || echo "$file: base/ includes $line" ;;
            e2b_harness.h) [ "$floor" = harness ] || echo "$file: $floor/ includes $line" ;;
            */*)
                case $allowed in
                *" ${target%%/*} "*) ;;
                *) echo "$file: $floor/ includes $line" ;;
                esac
                ;;
            *) echo "$file: includes $line, which is on no floor" ;;
            esac
        done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\(.*\)".*/\1/p' "$file")
    done
}

system_includes() {
    grep -HnE '^[ \t]*#[ \t]*include[ \t]*<' lib/*.h lib/*/*.[ch] |
        grep -vE '<(stddef|stdint|stdbool|string|limits|stdarg|llhttp|jsmn)\.h>'
    grep -HnE '<(llhttp|jsmn)\.h>' lib/*.h
}

banned_functions() {
    local names='malloc|calloc|realloc|free|alloca|strdup|strndup|v?s?n?printf|v?fprintf|v?asprintf|puts|fputs'
    names+='|strcpy|strcat|strncpy|strtok|gets|atoi|atol|strtol|strtoul|setjmp|longjmp|exit|abort|assert|getenv|qsort'
    local file
    for file in lib/*.h lib/*/*.[ch]; do
        code_of "$file" | grep -E "(^|[^A-Za-z0-9_.>])($names)[ ]*\("
    done
}

# What the archive asks of the C library is this and what compilers insert.
undefined_symbols() {
    nm --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u >"$scratch/defined"
    nm -u "$1" | awk '$1 == "U" { print $2 }' | sort -u |
        comm -23 - "$scratch/defined" |
        grep -vxE 'mem(cpy|move|set|cmp|chr|rchr)|str(len|cmp|ncmp|chr|rchr|str|pbrk|spn|cspn)|_GLOBAL_OFFSET_TABLE_|__[a-z0-9_]+'
}

writable_sections() {
    size -A "$1" | awk '/^[^ ]+ .*:$/ { member = $1 } /^\.(data|bss|tdata|tbss)/ && $2 > 0 { print member, $1, $2, "bytes" }'
    nm "$1" | awk '$2 == "C" { print "common symbol", $3 }'
}

foreign_symbols() {
    local archive
    for archive in "$@"; do
        nm -g --defined-only "$archive" |
            awk -v archive="$archive" 'NF == 3 && $3 !~ /^e2b_/ { print archive ": " $3 }'
    done
}

alone() { # COMPILER...: each public header compiles by itself
    local header
    for header in lib/e2b*.h port/*/e2b_*.h; do
        printf '#include "%s"\n' "$(basename "$header")" |
            "$@" -Wall -Wextra -Wpedantic -Werror -Ilib -Iport/posix -Iport/memory -fsyntax-only - 2>&1
    done
}

internal_alone() {
    local header
    for header in lib/*/*.h; do
        printf '#include "%s"\n' "${header#lib/}" |
            gcc -x c -std=c99 -Wall -Wextra -Werror -Ilib -isystem $root/deps/llhttp -isystem $root/deps/jsmn \
                -fsyntax-only - 2>&1
    done
}

# Nothing if the sizes keep their promise, else the table.
client_memory() {
    gcc -std=c99 -Ilib test/house/memory.c -o "$scratch/memory" 2>&1 || return
    "$scratch/memory" >"$scratch/table" || cat "$scratch/table"
}

# A program with an llhttp of its own links with all of ours.
llhttp_beside_ours() {
    echo 'int llhttp_init; int llhttp_execute; int main(void) { return llhttp_init + llhttp_execute; }' |
        gcc -x c - -x none -Wl,--whole-archive "$out/libe2b.a" -Wl,--no-whole-archive -o "$scratch/beside" 2>&1
}

tests_without_source() {
    local file name
    for file in test/unit/test_*.c; do
        name=$(basename "$file" .c)
        name=${name#test_}
        set -- lib/*/"$name".c port/*/"$name".c test/"$name"/*
        [ $# -gt 0 ] || echo "$file tests no file named $name.c, and there is no data in test/$name"
    done
}

sources_without_test() {
    local file name source test
    for file in lib/*/*.c; do
        name=$(basename "$file" .c)
        [ -e "test/unit/test_$name.c" ] || echo "$file"
    done | while read -r file; do
        test=$(awk -v file="$file" '$1 == file { print $2 }' test/house/tested_elsewhere.txt)
        [ -n "$test" ] && [ -e "$test" ] || echo "$file has no test/unit/test_$(basename "$file")"
    done
    while read -r source test; do
        [ "${source:0:1}" = '#' ] || [ -e "$source" ] || echo "tested_elsewhere.txt: there is no $source"
    done <test/house/tested_elsewhere.txt
}

# Text that people wrote: everything but recorded data.
written() {
    git ls-files -co --exclude-standard 2>/dev/null |
        grep -vE '^(test/(vectors|recordings|house)/|.*\.(jsonl|tsv)$)' |
        while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

banned_words() {
    written | xargs -r grep -HnIE '\b(TODO|FIXME|XXX)\b'
    written | xargs -r grep -HnIiE '\b(for now|placeholders?|stubs?|stubbed|not implemented)\b'
}

long_files() {
    written | grep -E '\.(c|h|sh|py|mk|js|mjs)$|Makefile$' | xargs -r wc -l |
        awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }'
}

vague_names() {
    written | grep -iE '(^|[/_.-])(utils?|common|managers?|helpers?|misc)([/_.-]|$)'
}

verdict 'a floor includes only from itself and those below' < <(floors)
verdict 'lib/ includes no other system header' < <(system_includes)
verdict 'lib/ calls no banned function' < <(banned_functions)
verdict 'libe2b.a needs memory and string functions only' < <(undefined_symbols "$out/libe2b.a")
verdict 'libe2b.a has no writable data and no relocated tables' < <(writable_sections "$out/libe2b.a")
verdict 'every exported symbol begins with e2b_' < <(foreign_symbols "$out"/libe2b.a "$out"/libe2b-posix.a "$out"/libe2b-memory.a)
verdict "a program's own llhttp links beside ours" < <(llhttp_beside_ours)
verdict 'public headers compile alone as C99 (gcc)' < <(alone gcc -x c -std=c99)
verdict 'public headers compile alone as C++11 (g++)' < <(alone g++ -x c++ -std=c++11)
if command -v clang++ >/dev/null; then
    verdict 'public headers compile alone as C99 (clang)' < <(alone clang -x c -std=c99)
    verdict 'public headers compile alone as C++11 (clang)' < <(alone clang++ -x c++ -std=c++11)
else
    skip 'public headers compile alone (clang)' 'no clang++ here'
fi
verdict 'internal headers compile alone' < <(internal_alone)
verdict 'a client, a sandbox and a process fit 12 KiB' < <(client_memory)
verdict 'no recursion; 1 KiB of stack a function, 4 KiB a call chain' < <(/usr/bin/python3 test/house/stack.py "$out/obj")
verdict 'each unit test is named after a source' < <(tests_without_source)
verdict 'each source of lib/ has a unit test' < <(sources_without_test)
verdict 'no banned words' < <(banned_words)
verdict 'no file over 600 lines' < <(long_files)
verdict 'no file with a vague name' < <(vague_names)
echo "1..$checks"
