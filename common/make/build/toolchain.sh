#!/bin/sh
# toolchain.sh [CXX [CC]]: prints "CXX CC VERSION", the compilers to use, or "- REASON" if there
# are none.
# A compiler that is named is taken or refused, never replaced by another.

# Prints "gcc 12" or "clang 14", or nothing when $1 is no C++ compiler. Its name does not say which
# it is (macOS calls clang g++), so the compiler is asked.
kind() {
    printf '__clang_major__ __GNUC__\n' | $1 -E -P -x c++ - 2>/dev/null | awk '
        NF == 2 && $1 ~ /^[0-9]+$/ { print "clang", $1 }
        NF == 2 && $1 !~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ { print "gcc", $2 }'
}

new_enough() {
    case $1 in
    "gcc "*) [ "${1#gcc }" -ge 12 ] ;;
    "clang "*) [ "${1#clang }" -ge 14 ] ;;
    *) false ;;
    esac
}

# The C compiler that belongs to a C++ compiler: g++-12 has gcc-12, clang++ has clang.
c_compiler() {
    case $1 in
    *clang++*) echo "$1" | sed 's/clang++/clang/' ;;
    *g++*) echo "$1" | sed 's/g++/gcc/' ;;
    *c++*) echo "$1" | sed 's/c++/cc/' ;;
    *) echo cc ;;
    esac
}

answer() {
    cc=${2:-$(c_compiler "$1")}
    if ! command -v "${cc%% *}" >/dev/null 2>&1; then
        echo "- there is $1 but no C compiler $cc: install it, or name one with CC=..."
    else
        echo "$1 $cc $($1 -dumpfullversion -dumpversion 2>/dev/null | head -n 1)"
    fi
    exit 0
}

if [ -n "$1" ]; then
    found=$(kind "$1")
    if [ -z "$found" ]; then
        echo "- CXX=$1 is no C++ compiler that runs here: use g++ 12 or clang++ 14, or newer"
        exit 0
    fi
    if ! new_enough "$found"; then
        echo "- CXX=$1 is $found, too old: use g++ 12 or clang++ 14, or newer"
        exit 0
    fi
    answer "$1" "$2"
fi
for cxx in g++ g++-12 g++-13 g++-14 g++-15 clang++ clang++-14 clang++-15 clang++-16 clang++-17 \
    clang++-18 clang++-19 clang++-20; do
    if command -v $cxx >/dev/null 2>&1 && new_enough "$(kind $cxx)"; then
        answer $cxx "$2"
    fi
done
echo "- there is no C++ compiler new enough (g++ 12 or clang++ 14, or newer): make setup brings one"
