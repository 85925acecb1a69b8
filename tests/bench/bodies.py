# SPDX-License-Identifier: MIT
"""The bodies that are served: pieces of real files, of exactly the length of their class."""
import os

SIZES = {'300 B': 300, '1 KB': 1 << 10, '4 KB': 4 << 10, '16 KB': 16 << 10, '64 KB': 64 << 10}
KINDS = ('html', 'css', 'js', 'json', 'svg')
EACH = 2  # bodies of one kind in one class
STARTS_MATTER = ('html', 'svg')  # a page begins with its head; of the others, the middle is typical


class TooLittle(Exception):
    """The packages hold not enough text of some kind."""


def _files(share, kind):
    """Contents of the files of one kind, in the order of their paths; long ones only."""
    found = []
    for folder, _, names in os.walk(share):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith('.' + kind) and not os.path.islink(path) and \
                    os.path.getsize(path) >= 4 << 10:
                found.append(path)
    for path in sorted(found):
        with open(path, 'rb') as file:
            yield file.read()


def _long_enough(texts, size):
    """At least EACH texts of so many bytes; where files are shorter, several are joined."""
    long = [text for text in texts if len(text) >= size]
    short = [text for text in texts if len(text) < size]
    while len(long) < EACH and short:
        joined = b''
        while short and len(joined) < size:
            joined += short.pop()
        if len(joined) >= size:
            long.append(joined)
    return long


def _piece(text, size, kind):
    start = 0 if kind in STARTS_MATTER else (len(text) - size) // 3
    return text[start:start + size]


def _class_of(texts_by_kind, size):
    """Bodies of one length, the kinds in turn: [(file name, bytes)]."""
    bodies = []
    for n in range(EACH):
        for kind, texts in texts_by_kind.items():
            enough = _long_enough(texts, size)
            if not enough:
                raise TooLittle(f'no {kind} of {size} bytes')
            if n < len(enough):
                # spread over the list: neighbours in a folder are alike
                text = enough[n * len(enough) // EACH]
                bodies.append((f'{n}.{kind}', _piece(text, size, kind)))
    return bodies


def json_bodies(share, size):
    """[(file name, bytes)] of one kind alone, in a length of the caller's."""
    return _class_of({'json': list(_files(share, 'json'))}, size)


def write_site(share, root):
    """Fills a document root; returns {size name: [(path, bytes)]}."""
    texts = {kind: list(_files(share, kind)) for kind in KINDS}
    site = {}
    for name, size in SIZES.items():
        site[name] = []
        os.makedirs(os.path.join(root, str(size)))
        for file_name, body in _class_of(texts, size):
            with open(os.path.join(root, str(size), file_name), 'wb') as file:
                file.write(body)
            site[name].append((f'/{size}/{file_name}', body))
    return site
