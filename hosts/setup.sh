# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What hosts/try and tests/run share: Debian packages, the server's source, builds.  To be sourced
# by bash with TERSE_ROOT (the checkout) set; nothing runs while it is read.

# Debian's own tools, whatever else is first in the caller's PATH.
TERSE_PATH=/usr/sbin:/usr/bin:/sbin:/bin
PYTHON=/usr/bin/python3

BUILD_PACKAGES='gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libbrotli-dev
  libzstd-dev libdeflate-dev'
LIGHTTPD_PACKAGES='lighttpd dpkg-dev make patch xz-utils libpcre2-dev nettle-dev libxxhash-dev'
H2O_PACKAGES='h2o libh2o-evloop-dev libssl-dev'
ANSWER_PACKAGES='curl python3-brotli python3-zstandard'
TEST_PACKAGES='valgrind g++ clang libclang-rt-dev binutils libcmocka-dev libyaml-dev python3-pytest
  python3-h2 lighttpd-mod-deflate lighttpd-mod-openssl nghttp2-client openssl'
CACHE_PACKAGES='varnish'
RELAY_PACKAGES='nginx apache2-bin'
CLIENT_PACKAGES='python3-requests python3-httpx nodejs golang-go openjdk-17-jdk-headless php-cli php-curl ruby'
BROWSER_PACKAGES='chromium fonts-dejavu-core woff2'
TSAN_PACKAGES='cmake make dpkg-dev zlib1g-dev libssl-dev'

say() { printf '%s\n' "$*" >&2; }

die() {
    say "${0##*/}: $*"
    exit 1
}

as_root() { [ "$(id -u)" -eq 0 ]; }

# ---- packages ------------------------------------------------------------------------------------

# Those of the named packages that are not installed, a line each.
missing_packages() {
    local have
    have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
        sed -n 's/^installed //p')
    printf '%s\n' "$@" | sort -u | grep -vxF -e "$have" || true
}

# Runs a command while no package may start a service (invoke-rc.d asks policy-rc.d).
without_services() (
    local policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    "$@"
)

# apt-get as a script wants it: no questions, no restarts of other services.
apt_quietly() {
    DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l NEEDRESTART_SUSPEND=1 \
        apt-get -q -y -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@" </dev/null >&2
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Undoes what a package's installation does for the next boot.
disable_services() {
    local service
    for service in $(dpkg -L "$1" | sed -n 's:^/lib/systemd/system/\(.*\)\.service$:\1:p'); do
        deb-systemd-helper disable "$service.service" >/dev/null 2>&1 || true
        update-rc.d "$service" disable >/dev/null 2>&1 || true
    done
}

# Installs what is missing of the named packages; touches nothing when nothing is.
install_packages() {
    local missing package fresh=
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    as_root || die "not installed: $(echo $missing); run this with sudo, or install them"
    say "installing: $(echo $missing)"
    for package in lighttpd h2o varnish nginx; do
        is_installed "$package" || fresh="$fresh $package"
    done
    apt_quietly update || say "apt-get update failed; going on with the lists at hand"
    # shellcheck disable=SC2086 # a list of words
    without_services apt_quietly install --no-install-recommends $missing ||
        die "apt-get could not install: $(echo $missing)"
    for package in $fresh; do
        if is_installed "$package"; then disable_services "$package"; fi
    done
}

# ---- what is fetched, kept outside the checkout --------------------------------------------------

cache_dir() {
    if as_root; then
        echo /var/cache/terse
    else
        echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/terse"
    fi
}

# Runs a command that fills a new folder, and puts that folder into the cache under a name, whole or
# not at all.  A folder whose marker does not say the same is made again.
#   cached NAME KEY COMMAND... ; COMMAND gets the folder as its last argument
cached() (
    cache=$(cache_dir)
    dir=$cache/$1
    key=$2
    shift 2
    umask 022
    mkdir -p "$cache" || exit 1
    exec 9>"$cache/.lock"
    flock 9
    if [ "$(cat "$dir/.complete" 2>/dev/null)" != "$key" ]; then
        fresh=$(mktemp -d "$cache/.fresh.XXXXXX") || exit 1
        trap 'rm -rf "$fresh"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM
        chmod 755 "$fresh"
        "$@" "$fresh" 9>&- >&2 || exit 1
        printf '%s\n' "$key" >"$fresh/.complete"
        rm -rf "$dir"
        mv -T "$fresh" "$dir" || exit 1
    fi
    echo "$dir"
)

# Copies the system's entries for Debian itself into folder $1, asking for sources.  apt says which
# entries those are (file, and line of the file), so that other people's lists are left out.
source_entries() {
    local entry file n=0
    while read -r entry; do
        file=${entry%:*}
        n=$((n + 1))
        case $file in
        *.sources) sed 's/^Types:.*/Types: deb-src/I' "$file" >"$1/$(basename "$file")" ;;
        *) sed -n "${entry##*:}s/^[[:space:]]*deb[[:space:]]/deb-src /p" "$file" >"$1/$n.list" ;;
        esac
    done < <(apt-get indextargets --format '$(SOURCESENTRY)' 'Identifier: Packages' \
        "Origin: Debian" | sort -u)
    [ "$n" -gt 0 ]
}

# Fetches the source of package $1, version $2, and unpacks it into $3/source.  The system's package
# sources and lists stay as they are.
fetch_source() (
    tmp=$(mktemp -d) || exit 1
    trap 'rm -rf "$tmp"' EXIT
    mkdir -p "$tmp/entries" "$tmp/lists/partial" "$tmp/source"
    if ! source_entries "$tmp/entries"; then
        if as_root; then apt_quietly update; fi
        source_entries "$tmp/entries" || die 'apt knows no package list of Debian'
    fi
    from=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$tmp/entries"
        -o "Dir::State::lists=$tmp/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
        -o APT::Sandbox::User=root)
    apt-get "${from[@]}" update &&
        (cd "$tmp/source" && apt-get "${from[@]}" --download-only source "$1=$2") &&
        dpkg-source --no-check -x "$tmp/source/${1}_${2#*:}.dsc" "$3/source"
)

# lighttpd's headers come in no package.  Their struct layouts depend on what configure found, so it
# is given the choices of Debian's build.
configured_lighttpd() {
    # shellcheck disable=SC2086 # a list of words
    fetch_source lighttpd "$1" "$2" &&
        (cd "$2/source" &&
            env -i PATH="$TERSE_PATH" LC_ALL=C.UTF-8 ./configure $LIGHTTPD_CONFIGURE) &&
        [ -s "$2/source/config.h" ] && [ -s "$2/source/src/base.h" ]
}
LIGHTTPD_CONFIGURE='--with-pcre2 --with-nettle --with-xxhash --without-zlib --without-bzip2'

# Prints the folder of the configured source of exactly the lighttpd that is installed.
lighttpd_source() {
    local version dir
    version=$(dpkg-query -W -f '${source:Version}' lighttpd)
    dir=$(cached "lighttpd-${version//[^A-Za-z0-9.+~-]/_}" "lighttpd $version $LIGHTTPD_CONFIGURE" \
        configured_lighttpd "$version") ||
        die "the source of lighttpd $version could not be fetched and configured"
    echo "$dir/source"
}

# The library that programs over libh2o use, of the same source, made to watch its threads.
watched_libh2o() {
    fetch_source h2o "$1" "$2" &&
        cmake -S "$2/source" -B "$2/build" -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=on \
            -DCMAKE_INSTALL_PREFIX=/usr -DWITH_MRUBY=off -DWITH_BUNDLED_SSL=off \
            -DCMAKE_C_FLAGS='-O1 -g -fsanitize=thread' &&
        make -C "$2/build" -j2 libh2o-evloop
}

# Prints the folder of a libh2o-evloop that was built with ThreadSanitizer.
libh2o_tsan() {
    local version dir
    version=$(dpkg-query -W -f '${source:Version}' libh2o-evloop-dev)
    dir=$(cached "libh2o-tsan-${version//[^A-Za-z0-9.+~-]/_}" "libh2o-tsan $version" \
        watched_libh2o "$version") || die "libh2o $version could not be built for ThreadSanitizer"
    echo "$dir/build"
}

# Unpacks the packages $2... into folder of the last argument, without installing them.
unpacked_packages() {
    local dir=${!#} deb
    mkdir "$dir/debs" &&
        (cd "$dir/debs" && apt-get -q -o APT::Sandbox::User=root download "${@:1:$#-1}") || return 1
    for deb in "$dir"/debs/*.deb; do
        dpkg-deb -x "$deb" "$dir" || return 1
    done
    rm -rf "$dir/debs"
}

# ---- builds --------------------------------------------------------------------------------------

# Runs a command as the owner of the checkout, with a plain environment: nothing that it makes there
# belongs to root, unless the checkout does.
as_owner() {
    local uid gid home
    local -a become=()
    uid=$(stat -c %u "$TERSE_ROOT")
    gid=$(stat -c %g "$TERSE_ROOT")
    home=$(getent passwd "$uid" | cut -d: -f6) || home=/
    if as_root && [ "$uid" -ne 0 ]; then
        become=(setpriv "--reuid=$uid" "--regid=$gid")
        if getent passwd "$uid" >/dev/null; then
            become+=(--init-groups)
        else
            become+=(--clear-groups)
        fi
    fi
    (umask 022 && exec "${become[@]}" env -i PATH="$TERSE_PATH" HOME="${home:-/}" LC_ALL=C.UTF-8 \
        PYTHONDONTWRITEBYTECODE=1 "$@" </dev/null)
}

# Builds into build-NAME of the checkout: build_terse NAME [VARIABLE=VALUE...] [meson options...].
# Prints the folder.  Set up again when the options are not those of the last time.
build_terse() {
    local dir=$TERSE_ROOT/build-$1 wanted
    shift
    wanted=$(printf '%s\n' "$@")
    # one at a time in a folder; the lock is the owner's as well
    as_owner sh -c ': >>"$1"' sh "$dir.lock" || return 1
    (
        flock 8
        if [ "$(cat "$dir/.terse-options" 2>/dev/null)" != "$wanted" ]; then
            if [ -e "$dir" ]; then as_owner rm -rf "$dir" || return 1; fi
            set_up_build "$dir" "$@" || return 1
            as_owner sh -c 'printf "%s\n" "$2" >"$1"' sh "$dir/.terse-options" "$wanted"
        fi
        as_owner ninja --quiet -C "$dir" 8<&- || return 1
    ) 8<"$dir.lock" >&2 || return 1
    echo "$dir"
}

set_up_build() {
    local dir=$1 said
    local -a environment=()
    shift
    while [ $# -gt 0 ] && [[ $1 =~ ^[A-Z]+= ]]; do
        environment+=("$1")
        shift
    done
    said=$(as_owner "${environment[@]}" meson setup "$dir" "$TERSE_ROOT" "$@" 2>&1) || {
        say "$said"
        return 1
    }
}
