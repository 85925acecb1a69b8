# SPDX-License-Identifier: MIT
"""Clients that ask all the time and look at every byte, while something is done to the server."""
import threading

import client
from streams import Streams

CODINGS = ['zstd', 'br', 'gzip']
NAMES = ('page.html', 'size-1048576.html', 'two.json')
GOAWAY = 7


class Visitors:
    """A thread for each of `kinds`.  right: answers as they should be; wrong: others; refused: no
    answer, or half of one; again: requests that the server left to be asked elsewhere."""

    def __init__(self, server, contents, kinds, names=NAMES):
        self.server, self.contents, self.names = server, contents, names
        self.tally, self.wrong, self.refused, self.again = [0] * len(kinds), [], 0, 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self._visit, args=(n, kind))
                        for n, kind in enumerate(kinds)]

    @property
    def right(self):
        return sum(self.tally)

    def _visit(self, n, kind):
        turn = n
        while not self.over.is_set():
            try:
                for name, answer in kind(self, turn):
                    turn += 1
                    if answer.status == 200 and answer.plain == self.contents[name]:
                        self.tally[n] += 1
                    else:
                        self.wrong.append((name, answer))
            except (OSError, client.Broken):
                self.refused += 1
            except Exception as error:  # pylint: disable=broad-except
                self.wrong.append(error)

    def request(self, n):
        """(name, coding) of the nth request."""
        return self.names[n % len(self.names)], CODINGS[n // 3 % 3]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


# ---- kinds: generators of (name, answer), of one connection --------------------------------------

def single_h1(visitors, n):
    name, coding = visitors.request(n)
    yield name, client.h1(visitors.server.port, f'/{name}', [('Accept-Encoding', coding)])


def _is_closed(connection):
    """Without a byte of an answer: to be asked again (RFC 9112 section 9.3.1)."""
    try:
        return not connection.reader.peek(1)
    except ConnectionError:
        return True


def kept_h1(visitors, n):
    """One request after the other, until the server closes."""
    with client.Connection(visitors.server.port) as connection:
        first = n
        while not visitors.over.is_set():
            name, coding = visitors.request(n)
            connection.send(f'/{name}', [('Accept-Encoding', coding)])
            if n > first and _is_closed(connection):
                visitors.again += 1
                return
            answer = connection.answer()
            yield name, answer
            if answer.header('connection') == 'close':
                return
            n += 1


class Leaving(Streams):
    """After a GOAWAY it takes what still comes; python3-h2 would not.  last: the last stream that
    the server answers, once it has said so."""

    def __init__(self, port):
        self.raw, self.last = b'', None
        super().__init__(port, window=1 << 24)

    def _receive(self, data):
        self.raw += data
        frames = []
        while len(self.raw) >= 9 and len(self.raw) >= (size := 9 + int.from_bytes(self.raw[:3])):
            frame, self.raw = self.raw[:size], self.raw[size:]
            if frame[3] == GOAWAY:
                self._left(frame[9:])
            else:
                frames.append(frame)
        super()._receive(b''.join(frames))

    def _left(self, said):
        self.last = int.from_bytes(said[:4]) & 0x7fffffff
        if int.from_bytes(said[4:8]) != 0:
            raise client.Broken(f'GOAWAY, {said[4:]!r}')

    def is_answered(self, stream):
        return self.last is None or stream <= self.last


def many_h2(visitors, n):
    """Four streams at a time, until the server says that it leaves."""
    with Leaving(visitors.server.port) as streams:
        while streams.last is None and not visitors.over.is_set():
            asked = {}
            for turn in range(n, n + 4):
                name, coding = visitors.request(turn)
                asked[streams.ask(f'/{name}', [('Accept-Encoding', coding)])] = name
            for stream, name in asked.items():
                streams.until(lambda s=stream: s in streams.ended | streams.broken
                              or not streams.is_answered(s))
                if streams.is_answered(stream):
                    yield name, streams.whole(stream)[0]
                else:
                    visitors.again += 1
            n += 4
