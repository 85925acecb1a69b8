# SPDX-License-Identifier: MIT
"""pool.memory: many slow readers of a long body at once. As many get it coded as the budget has
room for, the others get it as it is, and every body is right."""
import selectors
import socket
import zlib

import client
import pytest
from many import MANY_CONNECTIONS, many_files  # noqa: F401
from server import until

# Of the loopback's own segments (64 KB) the kernel takes megabytes before a server sees that nobody
# reads.
SEGMENT = 1400
SMALL, LARGE = 4096, 262144  # receive buffers
STEP = 65536
MIB = 1 << 20


class Chunks:
    """The data of a chunked body, out of bytes that come in any cut."""

    def __init__(self):
        self.pending, self.left, self.line_end, self.over = b'', 0, 0, False

    def _begin(self):
        """The next chunk's size; False: it has not come in full."""
        skipped = min(self.line_end, len(self.pending))
        self.line_end -= skipped
        line, end, rest = self.pending[skipped:].partition(b'\r\n')
        self.pending = rest if end else line
        if not end:
            return False
        self.left, self.line_end = int(line, 16), 2
        self.over = self.left == 0
        return not self.over

    def feed(self, data):
        self.pending += data
        found = []
        while not self.over and self.pending and (self.left or self._begin()):
            found.append(self.pending[:self.left])
            self.pending = self.pending[self.left:]
            self.left -= len(found[-1])
        return b''.join(found)


class Reader:
    """A client with little room for what comes; it decodes and compares as it reads."""

    def __init__(self, port, path, expected):
        self.expected, self.got = memoryview(expected), 0
        self.chunks = self.decoder = None
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
        self.socket.settimeout(client.TIMEOUT)
        self.socket.connect(('127.0.0.1', port))
        self.socket.sendall(client.request_bytes(path, [('Accept-Encoding', 'gzip')]))

    def _receive(self, most):
        data = self.socket.recv(most)
        assert data, f'the connection ended after {self.got} bytes'
        return data

    def read_head(self):
        """True: the body is coded."""
        head = b''
        while b'\r\n\r\n' not in head:
            head += self._receive(1024)
        head, body = head.split(b'\r\n\r\n', 1)
        lines = head.decode('latin-1').lower().split('\r\n')
        fields = dict(line.split(': ', 1) for line in lines[1:])
        assert lines[0].split()[1] == '200' and fields['vary'] == 'accept-encoding', lines
        if 'content-encoding' in fields:
            assert (fields['content-encoding'], fields['transfer-encoding']) == ('gzip', 'chunked')
            self.chunks, self.decoder = Chunks(), zlib.decompressobj(31)
        else:
            assert int(fields['content-length']) == len(self.expected)
        self._take(body)
        return self.decoder is not None

    def _take(self, data):
        if self.decoder:
            data = self.decoder.decompress(self.chunks.feed(data))
        assert self.expected[self.got:self.got + len(data)] == data, f'wrong from {self.got} on'
        self.got += len(data)

    def over(self):
        return self.got == len(self.expected) and \
            (self.decoder is None or self.decoder.eof and self.chunks.over)

    def step(self):
        """Takes some of what is there."""
        self._take(self._receive(STEP))
        if self.over():
            self.socket.close()
        return self.over()


def read_all(readers):
    """In turns, each when something is there."""
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LARGE)
            selector.register(reader.socket, selectors.EVENT_READ, reader)
        while selector.get_map():
            ready = selector.select(client.TIMEOUT)
            assert ready, 'nothing comes any more'
            for key, _ in ready:
                file = key.fileobj.fileno()
                if key.data.step():
                    selector.unregister(file)


def live(server, count):
    """The counters, which lighttpd sets once a second, as soon as so many streams are live."""
    def there():
        counters = server.counters()
        return counters if counters.get('terse.streams.live') == count else None

    return until(there, 10, f'{count} live streams')


def serve(server, files, count):
    """(readers that got it coded, bytes held while all of them waited)"""
    expected = files.contents['long.txt']
    readers = [Reader(server.port, '/long.txt', expected) for _ in range(count)]
    coded = sum(reader.read_head() for reader in readers)
    held = live(server, coded)['terse.memory.held']
    print(f'{coded} of {count} coded, {held / MIB:.1f} MB held, RSS {server.rss() / 1024:.1f} MB')
    read_all(readers)
    live(server, 0)
    reasons = [entry.reason for entry in server.wait_entries('/long.txt', count)]
    assert reasons.count('coded') == coded
    assert reasons.count('memory') == count - coded > 0
    return coded, held


@pytest.fixture
def server(launch, server_class, site, files, many_files):
    def start(memory, size):
        files.add_large('long.txt', size)
        return launch(site.but(workers=1, params={**site.params, 'pool.memory': memory},
                               raw=MANY_CONNECTIONS[server_class.name]))

    return start


@pytest.mark.rule('R24', kinds=('static',))
@pytest.mark.plain  # of memory, and long in a sanitized build
def test_slow_readers(server, files):
    coded, held = serve(server('16m', 4 * MIB), files, 200)
    assert coded >= 50
    assert held <= 16 * MIB


@pytest.mark.long
def test_a_thousand_slow_readers(server, files):
    coded, held = serve(server('64m', 10 * MIB), files, 1000)
    assert coded >= 200
    assert held <= 64 * MIB
