# SPDX-License-Identifier: MIT
"""The load: some HTTP/1.1 connections that are kept, one request in flight on each, the bodies in
turn.  Every answer is compared with the first of its kind, which somebody else's decoder has
decoded and which was the file to the byte."""
import socket
import struct

from client import Connection, request_bytes
from decoders import Undecodable, decode

TIMEOUT = 20


class Void(Exception):
    """A wrong body, or no body: nothing of this run may be used."""


class _Recorder:
    """A reader that keeps what it has read."""

    def __init__(self, reader):
        self.reader, self.raw = reader, bytearray()

    def readline(self, n):
        line = self.reader.readline(n)
        self.raw += line
        return line

    def read(self, n):
        data = self.reader.read(n)
        self.raw += data
        return data

    def close(self):
        self.reader.close()


class Reference:
    """The answer that each later one must equal: its length, and all that follows the headers."""

    def __init__(self, port, path, plain, coding):
        headers = (('Accept-Encoding', coding),)
        self.path, self.request = path, request_bytes(path, headers)
        with Connection(port, TIMEOUT) as connection:
            connection.reader = _Recorder(connection.reader)
            connection.send(path, headers)
            answer = connection.answer()
            raw = bytes(connection.reader.raw)
        if answer.status != 200:
            raise Void(f'{path}: status {answer.status}')
        try:
            if decode(answer.coding, answer.body) != plain:
                raise Void(f'{path} in {coding} decodes to something else')
        except Undecodable as error:
            raise Void(f'{path}: {error}') from error
        self.coding, self.length = answer.coding, len(answer.body)
        self.wire_length, self.tail = len(raw), raw.partition(b'\r\n\r\n')[2]


class Load:
    """Connections to one server, and the bodies it is asked for."""

    def __init__(self, port, references, connections):
        self.references = references
        self.sockets = [self._connect(port) for _ in range(connections)]
        self.buffer = bytearray(max(ref.wire_length for ref in references))
        self.view = memoryview(self.buffer)

    @staticmethod
    def _connect(port):
        connection = socket.create_connection(('127.0.0.1', port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # the kernel's time-out: one of Python's would make each call poll
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', TIMEOUT, 0))
        return connection

    def _receive(self, connection, reference):
        length, tail = reference.wire_length, reference.tail
        try:
            got = connection.recv_into(self.view, length, socket.MSG_WAITALL)
        except OSError as error:
            raise Void(f'{reference.path}: {error}') from error
        if got != length or not self.buffer.startswith(b'HTTP/1.1 200 ') or \
                not self.buffer.startswith(tail, length - len(tail)):
            raise Void(f'{reference.path}: an answer differs from the one that was decoded')

    def run(self, n):
        """Makes n requests; all answers have come when it returns."""
        sockets, references = self.sockets, self.references
        width, kinds = len(sockets), len(references)
        for i in range(n):
            connection = sockets[i % width]
            if i >= width:
                self._receive(connection, references[(i - width) % kinds])
            connection.sendall(references[i % kinds].request)
        for i in range(max(n - width, 0), n):
            self._receive(sockets[i % width], references[i % kinds])

    def close(self):
        for connection in self.sockets:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
