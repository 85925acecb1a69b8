# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # what hosts/try sets
# What hosts/try must know of h2o; sourced by it.

# shellcheck disable=SC2034 # hosts/try reads it
server_packages=$H2O_PACKAGES

server_version() { h2o -v | head -n 1; }

server_build() { build_terse try-h2o -Dlighttpd=disabled -Dh2o=enabled; }

# The bootstrap takes the shim that lies beside it.
server_stage() {
    local build=$1
    case $run in
    *[[:space:]:\$]*) die "LD_PRELOAD cannot name a file in $run; set TMPDIR to another folder" ;;
    esac
    mkdir "$run/h2o"
    cp "$build/hosts/h2o/terse-h2o-preload.so" "$build/hosts/h2o/terse-h2o.so" "$run/h2o"
}

# A word as YAML takes it literally.
yaml_word() { printf "'%s'" "${1//\'/\'\'}"; }

server_config() {
    cat <<END
listen:
  host: 127.0.0.1
  port: $port
access-log:
  path: $(yaml_word "$run/log/access.log")
  format: '%h %r %s %b %{TERSE}e'
error-log: $(yaml_word "$run/log/error.log")
temp-buffer-path: $(yaml_word "$run/log")
terse.plugin: $(yaml_word "$run/plugin/terse.so")
terse: ON
hosts:
  default:
    paths:
      /:
        file.dir: $(yaml_word "$root")
END
    if [ -n "$user" ]; then echo "user: $(yaml_word "$user")"; fi
}

# Becomes the server with the configuration $1.
server_run() {
    exec setsid env "LD_PRELOAD=$run/h2o/terse-h2o-preload.so" TERSE_STRICT=1 h2o -m worker -c "$1"
}
