# SPDX-License-Identifier: MIT
"""The files that the servers under test serve: real text of Debian's base files, cut to size."""
import os
import random

LICENSES = '/usr/share/common-licenses'
SIZES = (0, 1, 2, 15, 299, 300, 301, 1000, 4096, 16384, 30000, 65536, 262143, 262144, 262145,
         1 << 20)


def prose():
    """Some 300 KB of English, the same on every machine of one release."""
    text = b''
    for name in sorted(os.listdir(LICENSES)):
        path = os.path.join(LICENSES, name)
        if not os.path.islink(path):
            with open(path, 'rb') as file:
                text += file.read()
    return text


def page(text, size):
    """HTML of exactly so many bytes."""
    head, tail = b'<!doctype html><title>Terms</title><pre>', b'</pre>\n'
    middle = text.replace(b'&', b'&amp;').replace(b'<', b'&lt;')
    room = size - len(head) - len(tail)
    return head + (middle * (room // len(middle) + 1))[:room] + tail if room > 0 else head[:size]


def picture(size):
    """The look of a JPEG: its first bytes, then what does not shrink."""
    return b'\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0' + random.Random(1).randbytes(size)


SCRIPTS = {
    'page.cgi': 'printf "Content-Type: text/html\\r\\n\\r\\n"; cat "$(dirname "$0")/page.html"\n',
    'none.cgi': 'printf "Status: 204\\r\\n\\r\\n"\n',
    'gone.cgi': 'printf "Status: 404\\r\\nContent-Type: text/html\\r\\n\\r\\n"\n'
                'head -c 5000 "$(dirname "$0")/page.html"\n',
}


class Files:
    """A document root; contents by name."""

    def __init__(self, root):
        self.root = root
        self.contents = {}
        text = prose()
        self.text = text
        self.add('page.html', page(text, 30 * 1024))
        for size in SIZES:
            self.add(f'size-{size}.html', page(text, size))
        self.add('two.json', b'{}')
        self.add('fifteen.json', b'{"answer": 42 }')
        self.add('style.css', b''.join(b'.c%d { margin: %dpx }\n' % (n, n) for n in range(900)))
        self.add('picture.jpg', picture(50000))
        self.add('noise.txt', random.Random(2).randbytes(20000))
        self.add('prose.unknown', text[:20000])
        self.add('noise.unknown', random.Random(3).randbytes(20000))
        for name, script in SCRIPTS.items():
            self.add_script(name, '#!/bin/sh\n' + script)
        for folder in ('a', 'a/b', 'a/b/c', 'off', 'off/on'):
            self.add(f'{folder}/page.html', self.contents['page.html'])

    def path(self, name):
        return os.path.join(self.root, name)

    def add(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(data)
        self.contents[name] = data
        return data

    def add_script(self, name, text):
        self.add(name, text.encode())
        os.chmod(self.path(name), 0o755)

    def add_large(self, name, size):
        """Compressible, but no two blocks alike."""
        words = self.text.split()
        rng = random.Random(size)
        block = 1 << 20
        parts = []
        while sum(map(len, parts)) < size:
            parts.append(b' '.join(rng.choices(words, k=block // 7)) + b'\n')
        return self.add(name, b''.join(parts)[:size])
