# SPDX-License-Identifier: MIT
"""Asks a server for its pages as several clients would and prints what came back; part of
hosts/try."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from decoders import Undecodable, decode

LARGEST = 2 << 20
PAGES = 6
PAGES_OF_HTTP2 = 2
KINDS = ('.html', '.css', '.js', '.json', '.svg', '.txt', '.jpg', '.png')
HTTP1, HTTP2 = ('HTTP/1.1', '--http1.1'), ('HTTP/2', '--http2-prior-knowledge')


def curl(*args):
    return subprocess.run(['curl', '-q', '-sS', '--noproxy', '*', '--max-time', '60', *args],
                          capture_output=True, check=True)


def curls_own_field(url):
    """The Accept-Encoding that this curl sends when it is asked to decompress."""
    said = curl('-v', '--compressed', '-o', '/dev/null', url).stderr.decode()
    return re.search(r'^> accept-encoding: (.*?)\r?$', said, re.M | re.I).group(1)


def pages_of(root):
    """The largest file of each kind that is not too large, as (path, bytes)."""
    best = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            kind = os.path.splitext(name)[1]
            size = os.path.getsize(path) if os.path.isfile(path) else 0
            if kind in KINDS and best.get(kind, (0,))[0] < size <= LARGEST:
                best[kind] = (size, path)
    for kind in KINDS:
        if kind in best:
            path = best[kind][1]
            with open(path, 'rb') as file:
                yield '/' + os.path.relpath(path, root), file.read()


def ask(url, field, protocol):
    """(content coding or None, body as it came)"""
    with tempfile.TemporaryDirectory() as folder:
        head, body = os.path.join(folder, 'head'), os.path.join(folder, 'body')
        open(body, 'wb').close()
        curl(protocol[1], '-f', '-D', head, '-o', body,
             *(['-H', f'Accept-Encoding: {field}'] if field else []), url)
        with open(head, encoding='latin-1') as file:
            coding = re.search(r'^content-encoding: *(\S+)', file.read(), re.M | re.I)
        with open(body, 'rb') as file:
            return coding.group(1) if coding else None, file.read()


class Table:
    def __init__(self, base, wanted):
        self.base, self.wanted = base, wanted
        self.wrong = []

    def row(self, path, plain, client, field, protocol):
        where = f'{path} for {client} over {protocol[0]}'
        try:
            coding, body = ask(self.base + path, field, protocol)
            if decode(coding, body) != plain:
                raise Undecodable('decodes to other bytes')
            verdict = 'the same bytes'
        except (Undecodable, subprocess.CalledProcessError) as error:
            said = getattr(error, 'stderr', b'') or str(error).encode()
            verdict = said.decode(errors='replace').strip()
            self.wrong.append(f'{where}: {verdict}')
            print(f'  {client:<13} {field or "(none)":<24} {protocol[0]:<9} WRONG: {verdict}')
            return
        if self.wanted and coding not in self.wanted(path, client):
            self.wrong.append(f'{where}: {coding} is not what this client should get')
        share = 100 * len(body) / len(plain) if plain else 100
        print(f'  {client:<13} {field or "(none)":<24} {protocol[0]:<9} {coding or "identity":<9}'
              f'{len(body):>9,} bytes {share:6.1f} %   {verdict}')


def wanted_of_the_site(path, client):
    """What the site that hosts/try brings along must get from the default settings."""
    if path.endswith(('.jpg', '.png')) or client == 'no coding':
        return (None,)
    return {'browser': ('zstd',), 'older browser': ('br',), 'old client': ('gzip',)}.get(
        client, ('zstd', 'br', 'gzip'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--port', type=int, required=True)
    parser.add_argument('--root', required=True)
    parser.add_argument('--known-site', action='store_true')
    args = parser.parse_args()
    base = f'http://127.0.0.1:{args.port}'
    pages = list(pages_of(args.root))[:PAGES]
    if not pages:
        sys.exit(f'no file of {", ".join(KINDS)} up to {LARGEST:,} bytes in {args.root}')
    first = base + pages[0][0]
    clients = [('browser', 'gzip, deflate, br, zstd'), ('older browser', 'gzip, deflate, br'),
               ('curl', curls_own_field(first)), ('old client', 'gzip'), ('no coding', None)]
    table = Table(base, wanted_of_the_site if args.known_site else None)
    for n, (path, plain) in enumerate(pages):
        print(f'\n{path}  {len(plain):,} bytes')
        for protocol in (HTTP1, HTTP2) if n < PAGES_OF_HTTP2 else (HTTP1,):
            for client, field in clients:
                table.row(path, plain, client, field, protocol)
    if curl('--compressed', first).stdout != pages[0][1]:
        table.wrong.append(f'curl --compressed shows something else than {pages[0][0]}')
    print(f'\nTry it:\n  curl --compressed -sv -o /dev/null {first}'
          f'\n  curl -s -H "Accept-Encoding: br" {first} | wc -c')
    for line in table.wrong:
        print(f'WRONG: {line}')
    return 1 if table.wrong else 0


if __name__ == '__main__':
    sys.exit(main())
