# SPDX-License-Identifier: MIT
"""Applications that say what request they got: Content-Length, Content-Encoding, and the body's
digest."""
import hashlib
import threading

from gateways import FastCGI
from origins import Origin, Reply, read_head

BODY = ' body'  # no field has such a name


def told_of(body, headers):
    """As test_request_bodies.TELL has it."""
    length, coding = (headers.get(name, '') for name in ('content-length', 'content-encoding'))
    return f'{length}/{coding}/{hashlib.sha256(body).hexdigest()}'.encode()


class Telling(Origin):
    """Behind HTTP.  gate: each answer waits until it is open."""

    def __init__(self):
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.got = []

    @classmethod
    def read(cls, reader):
        method, path, headers = read_head(reader)
        headers[BODY] = reader.read(int(headers.get('content-length', 0)))
        if len(headers[BODY]) < int(headers.get('content-length', 0)):
            raise ValueError('the server says that it is not whole')
        return method, path, headers

    def lengths(self, path):
        """Of the bodies that it got, each once."""
        return {length for there, length in self.got if there == path}

    def reply_to(self, path, headers):
        body = headers.pop(BODY)
        self.got.append((path, len(body)))
        self.gate.wait(60)
        return Reply(told_of(body, headers), headers=[('Content-Type', 'text/x-told')])


class TellingFastCGI(FastCGI):
    """Behind FastCGI."""

    @classmethod
    def read(cls, reader):
        parts = {4: b'', 5: b''}  # parameters and the body; each ends with an empty record
        while True:
            kind, content = cls._record(reader)
            if kind in parts:
                parts[kind] += content
            if kind == 5 and not content:
                pairs = cls._pairs(parts[4])
                headers = {'content-length': pairs.get('CONTENT_LENGTH', ''),
                           'content-encoding': pairs.get('HTTP_CONTENT_ENCODING', ''),
                           BODY: parts[5]}
                return pairs['REQUEST_METHOD'], pairs['REQUEST_URI'], headers

    def reply_to(self, path, headers):
        return Reply(told_of(headers.pop(BODY), headers), headers=[('Content-Type', 'text/x-told')])


class Echo(Telling):
    """Answers with the body itself, unless somebody left a coding on it."""

    def reply_to(self, path, headers):
        return Reply(headers.pop(BODY), 500 if 'content-encoding' in headers else 200)
