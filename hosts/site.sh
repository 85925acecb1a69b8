# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The small real site that hosts/try brings along; sourced by it after hosts/setup.sh.

SITE_PACKAGES='debian-faq libjs-bootstrap libjs-jquery fonts-glyphicons-halflings
  libjs-jquery-colorbox'

# Real pages of small packages, which are unpacked in the cache and not installed.
small_site() {
    local share
    # shellcheck disable=SC2086 # a list of words
    share=$(cached site-of-try "${SITE_PACKAGES//[[:space:]]/ }" unpacked_packages $SITE_PACKAGES) ||
        die 'the packages of the small site could not be fetched'
    share=$share/usr/share
    mkdir -p "$1/images"
    cp "$share"/doc/debian/FAQ/*.html "$share"/doc/debian/FAQ/debian.css "$1"
    cp "$share"/doc/debian/FAQ/images/*.png "$1/images"
    ln -sf index.en.html "$1/index.html"
    cp "$share/javascript/bootstrap/css/bootstrap.css" "$1"
    cp "$share/javascript/bootstrap/css/bootstrap.css.map" "$1/bootstrap.map.json"
    cp "$share/javascript/jquery/jquery.js" "$1"
    cp "$share/fonts-glyphicons/glyphicons-halflings-regular.svg" "$1/glyphs.svg"
    cp "$share/doc/libjs-jquery-colorbox/examples/content/daisy.jpg" "$1"
}
