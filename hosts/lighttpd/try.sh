# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # what hosts/try sets
# What hosts/try must know of lighttpd; sourced by it.

# shellcheck disable=SC2034 # hosts/try reads it
server_packages=$LIGHTTPD_PACKAGES

server_version() { lighttpd -v | head -n 1; }

server_build() {
    local source
    source=$(lighttpd_source) || return 1
    build_terse try-lighttpd "-Dlighttpd_src=$source" -Dlighttpd=enabled -Dh2o=disabled
}

server_stage() {
    local build=$1 module
    mkdir "$run/modules"
    for module in /usr/lib/lighttpd/mod_*.so; do
        ln -sf "$module" "$run/modules"
    done
    rm -f "$run/modules/mod_terse.so"
    cp "$build/hosts/lighttpd/mod_terse.so" "$run/modules"
}

server_config() {
    cat <<END
server.modules = ( "mod_accesslog", "mod_terse" )
server.bind = "127.0.0.1"
server.port = $port
server.document-root = "$root"
server.errorlog = "$run/log/error.log"
server.upload-dirs = ( "$run/log" )
accesslog.filename = "$run/log/access.log"
accesslog.format = "%h %r %s %b %{terse}e"
index-file.names = ( "index.html" )
mimetype.assign = (
  ".html" => "text/html; charset=utf-8", ".css" => "text/css", ".js" => "text/javascript",
  ".json" => "application/json", ".svg" => "image/svg+xml", ".txt" => "text/plain; charset=utf-8",
  ".jpg" => "image/jpeg", ".png" => "image/png", "" => "application/octet-stream"
)
terse.plugin = "$run/plugin/terse.so"
terse.enable = "enable"
END
    if [ -n "$user" ]; then echo "server.username = \"$user\""; fi
}

# Becomes the server with the configuration $1.
server_run() { exec setsid lighttpd -D -f "$1" -m "$run/modules"; }
