#!/bin/sh
# SPDX-License-Identifier: MIT
# curl URL FOLDER [options of curl...]
url=$1 folder=$2
shift 2
ask() { curl -q -s --noproxy '*' --max-time 30 "$@"; }
digest() { sha256sum | cut -d' ' -f1; }
for coding in gzip:gz br:br zstd:zst deflate:zz; do
    answer=$(ask "$@" -H "Content-Encoding: ${coding%:*}" -H 'Expect:' -w ' %{http_code}' \
        --data-binary "@$folder/plain.${coding#*:}" "$url/tell.cgi" | tr -d '\n')
    echo "send ${coding%:*} ${answer##* } ${answer% *}"
done
for one in bad:gzip:plain unknown:compress:plain long:gzip:plain.long; do
    rest=${one#*:}
    echo "refused ${one%%:*} $(ask "$@" -H "Content-Encoding: ${rest%:*}" -H 'Expect:' \
        --data-binary "@$folder/${rest#*:}" -o /dev/null -w '%{http_code}' "$url/tell.cgi")"
done
echo "receive default $(ask "$@" --compressed -o "$folder/got.$$" -w '%header{content-encoding}' \
    "$url/page.html") $(digest <"$folder/got.$$")"
for coding in gzip br zstd; do
    echo "receive $coding $(ask "$@" --compressed -H "Accept-Encoding: $coding" \
        -o "$folder/got.$$" -w '%header{content-encoding}' "$url/page.html") \
$(digest <"$folder/got.$$")"
done
for name in gzip br zstd deflate; do
    echo "origin $name $(ask "$@" --compressed "$url/origin/$name" | digest)"
done
rm -f "$folder/got.$$"
