#!/bin/sh
# SPDX-License-Identifier: MIT
# pins.sh INCLUDE PINS COMPILER [FLAG...]: the pins for another machine's sizes and alignments.
# Free-standing, so that it takes no C library of that machine.
include=$1 pins=$2
shift 2
if ! command -v "$1" >/dev/null; then
    echo "SKIP: no $1 here"
    exit 77
fi
if ! printf '#include <stddef.h>\n#include <stdint.h>\n' |
    "$@" -ffreestanding -x c -std=c11 -fsyntax-only - 2>/dev/null; then
    echo "SKIP: '$*' cannot compile for that machine"
    exit 77
fi
exec "$@" -ffreestanding -std=c11 -Wall -Wextra -pedantic -Werror -I"$include" -fsyntax-only "$pins"
