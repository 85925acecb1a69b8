#!/bin/bash
# SPDX-License-Identifier: MIT
# What tests/bench/run needs before it measures: prepare.sh build|bodies prints a folder; relays
# installs the servers that tests/bench/decoding.py compares with.
set -eu

TERSE_ROOT=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
# shellcheck source=hosts/setup.sh
. "$TERSE_ROOT/hosts/setup.sh"
PATH=$TERSE_PATH

# Pages, style sheets, scripts, data and drawings that people use; unpacked in the cache, never
# installed and never committed.
BODY_PACKAGES='debian-faq libjs-bootstrap libjs-jquery libjs-jquery-colorbox
  fonts-glyphicons-halflings iso-codes tango-icon-theme'

bodies() {
    # shellcheck disable=SC2086 # a list of words
    cached site-of-bench "${BODY_PACKAGES//[[:space:]]/ }" unpacked_packages $BODY_PACKAGES ||
        die 'the packages that the bodies come from could not be fetched'
}

build() {
    # shellcheck disable=SC2086 # lists of words
    install_packages $BUILD_PACKAGES $LIGHTTPD_PACKAGES $H2O_PACKAGES $ANSWER_PACKAGES \
        lighttpd-mod-deflate
    build_terse bench -Dbuildtype=release -Dtests=disabled "-Dlighttpd_src=$(lighttpd_source)" \
        -Dlighttpd=enabled
}

# shellcheck disable=SC2086 # a list of words
relays() { install_packages $RELAY_PACKAGES; }

case ${1-} in
build | bodies | relays) "$1" ;;
*) die 'build, bodies or relays' ;;
esac
