#!/bin/bash
# Makes sure that what a part of the build needs is on this machine.
#
#   need.sh SET...    build unit vectors house gcc clang asan m32 s390x local live analyse
#
# What is missing is installed where apt-get is at hand, with one line that
# says so; elsewhere it is named, with the variable that points to a copy.
set -u

cc=${CC:-}
packages=() hints=()

# want PACKAGE HINT COMMAND...: notes the package if the command fails.
want() {
    local package=$1 hint=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    case " ${packages[*]} " in *" $package "*) return ;; esac
    packages+=("$package")
    hints+=("$hint")
}

have() { command -v "$1"; }

# links CODE COMPILER...: does the compiler make a program of it?
links() {
    local code=$1 program result
    shift
    program=$(mktemp)
    printf '%s\n' "$code" | "$@" -x c - -o "$program"
    result=$?
    rm -f "$program"
    return $result
}

any_of() {
    local file
    for file; do [ -e "$file" ] && return; done
    return 1
}

main='#include <stdlib.h>
int main(void) { return EXIT_SUCCESS; }'
cmocka='#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
int main(void) { return (int)sizeof(struct CMUnitTest) == 0; }'

need_build() {
    # Unset, the compiler is gcc, or clang where there is no gcc.
    if [ -z "$cc" ] && ! have gcc >/dev/null && have clang >/dev/null; then
        cc=clang
    fi
    want gcc 'a C compiler (CC)' links "$main" ${cc:-gcc}
    want libc6-dev "the C library's headers" links "$main" ${cc:-gcc}
    [ -n "${LLHTTP_DIR:-}" ] ||
        want node-llhttp "llhttp's C sources (LLHTTP_DIR)" \
            any_of /usr/share/llhttp/llhttp.c /usr/local/src/llhttp.c /usr/src/llhttp.c
    [ -n "${JSMN_DIR:-}" ] ||
        want libjsmn-dev 'jsmn.h (JSMN_DIR)' any_of /usr/include/jsmn.h /usr/local/include/jsmn.h
}

need_unit() {
    [ -n "${CMOCKA_DIR:-}" ] ||
        want libcmocka-dev 'cmocka (CMOCKA_DIR)' links "$cmocka" "${cc:-cc}" -lcmocka
}

need_vectors() { want python3 /usr/bin/python3 have /usr/bin/python3; }

need_gcc() { want gcc gcc links "$main" gcc; }

need_house() {
    need_gcc
    want g++ g++ have g++
    want python3 /usr/bin/python3 have /usr/bin/python3
    want git git have git
}

need_clang() { want clang clang links "$main" clang; }

need_asan() {
    local major
    need_clang
    major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    want "libclang-rt-${major:-14}-dev" "clang's sanitizers" \
        links "$main" clang -fsanitize=address,undefined
}

# Debian's gcc-multilib excludes its cross compilers; the two packages that
# matter of those it would bring do not.
need_m32() {
    local major
    need_gcc
    major=$(gcc -dumpversion 2>/dev/null | cut -d. -f1)
    want "lib32gcc-${major:-12}-dev" 'gcc -m32' links 'int main(void) { return 0; }' gcc -m32 -nostartfiles -nodefaultlibs -e main -lgcc
    want libc6-dev-i386 'a 32-bit C library' links "$main" gcc -m32
}

need_s390x() {
    want gcc-s390x-linux-gnu 's390x-linux-gnu-gcc' have s390x-linux-gnu-gcc
    want libc6-dev-s390x-cross 'a C library for s390x' links "$main" s390x-linux-gnu-gcc
    want qemu-user 'qemu-s390x' have qemu-s390x
}

need_live() { need_local; }

need_local() {
    want python3-aiohttp '/usr/bin/python3 with aiohttp' /usr/bin/python3 -c 'import aiohttp'
    want bubblewrap 'bwrap' have bwrap
}

need_analyse() {
    need_gcc
    want cppcheck cppcheck have cppcheck
}

survey() {
    packages=() hints=()
    local set
    for set in $sets; do "need_$set"; done
}

# apt-get takes a name it doesn't know for a pattern ("g++" fits a great deal),
# so an image whose package lists are absent needs them before anything else.
all_known() {
    local package
    for package in "${packages[@]}"; do
        apt-cache pkgnames "$package" 2>/dev/null | grep -Fxq -- "$package" || return
    done
}

install_packages() {
    local log apt
    if [ "$(id -u)" -eq 0 ]; then
        apt=(apt-get)
    else
        have sudo >/dev/null || return
        apt=(sudo -n env DEBIAN_FRONTEND=noninteractive apt-get)
        [ ! -t 0 ] || apt=(sudo env DEBIAN_FRONTEND=noninteractive apt-get)
    fi
    apt+=(-q -y -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)
    export DEBIAN_FRONTEND=noninteractive
    echo "installing Debian packages: ${packages[*]}"
    log=$(mktemp)
    if ! {
        { all_known || "${apt[@]}" update; } &&
            { "${apt[@]}" install --no-install-recommends "${packages[@]}" ||
                { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${packages[@]}"; }; }
    } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

sets=$*
survey
[ ${#packages[@]} -eq 0 ] && exit 0
if [ -e /etc/debian_version ] && have apt-get >/dev/null; then
    # Parallel parts of one build may lack the same: one installs at a time.
    mkdir -p "${OUT:-out}/deps"
    exec 9>"${OUT:-out}/deps/install.lock"
    flock 9
    survey
    # Twice, since some tests can only be made once the first tools are there.
    for _ in 1 2; do
        [ ${#packages[@]} -gt 0 ] || exit 0
        install_packages || break
        survey
    done
    [ ${#packages[@]} -gt 0 ] || exit 0
fi
{
    echo "missing for: $sets"
    for i in "${!packages[@]}"; do
        echo "  ${hints[$i]} - Debian's package ${packages[$i]}"
    done
    [ ! -e /etc/debian_version ] || echo "as root: apt-get install ${packages[*]}"
} >&2
exit 1
