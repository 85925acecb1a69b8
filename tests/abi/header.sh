#!/bin/sh
# SPDX-License-Identifier: MIT
# header.sh INCLUDE COMPILER [FLAG...]: terse.h by itself, once and twice, in every language that
# its users write.  A compiler whose name ends in ++ gets the C++ ones.
include=$1 compiler=$2
shift 2
if ! command -v "$compiler" >/dev/null; then
    echo "SKIP: no $compiler here"
    exit 77
fi
case $compiler in
*++) language=c++ standards='c++11 c++14 c++17 c++20' ;;
*) language=c standards='c99 c11 c17' ;;
esac
failed=0
for standard in $standards; do
    for define in '' -DTERSE_BUILDING_PLUGIN; do
        if printf '#include <terse.h>\n#include <terse.h>\nextern int unused;\n' |
            "$compiler" -x $language -std=$standard -Wall -Wextra -Wshadow -Wundef -pedantic \
                -Werror "$@" $define -I"$include" -fsyntax-only -; then
            echo "ok: $compiler -std=$standard $* $define"
        else
            echo "FAILED: $compiler -std=$standard $* $define"
            failed=1
        fi
    done
done
exit $failed
