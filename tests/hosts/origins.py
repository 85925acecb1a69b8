# SPDX-License-Identifier: MIT
"""A small application server on 127.0.0.1, for cases about responses that no file gives."""
import socket
import threading


class Reply:
    """What the origin answers.  framing: length, chunked, close, or none (no body at all);
    cut: the connection is closed after so many bytes of the body."""

    def __init__(self, body=b'', status=200, headers=(), framing='length', cut=None):
        self.body, self.status, self.framing, self.cut = body, status, framing, cut
        self.headers = [('Content-Type', 'text/html')] if headers == () else list(headers)

    def head(self):
        lines = [f'HTTP/1.1 {self.status} Said']
        lines += [f'{name}: {value}' for name, value in self.headers]
        if self.framing == 'length':
            lines.append(f'Content-Length: {len(self.body)}')
        elif self.framing == 'chunked':
            lines.append('Transfer-Encoding: chunked')
        return '\r\n'.join(lines + ['Connection: close', '', '']).encode('latin-1')

    def pieces(self):
        if self.framing == 'none':
            return
        body = self.body if self.cut is None else self.body[:self.cut]
        for start in range(0, len(body), 8192):
            piece = body[start:start + 8192]
            if self.framing == 'chunked':
                piece = b'%x\r\n%s\r\n' % (len(piece), piece)
            yield piece
        if self.framing == 'chunked' and self.cut is None:
            yield b'0\r\n\r\n'


def read_head(reader):
    """(method, path, {lower-case name: value}) of a request, up to its body."""
    method, path, _ = reader.readline().decode('latin-1').split(' ')
    headers = {}
    while (line := reader.readline().decode('latin-1').strip()):
        name, value = line.split(':', 1)
        headers[name.lower()] = value.strip()
    return method, path, headers


class Origin:
    """Answers the paths that cases register; anything else is a 404 of its own."""

    def __init__(self):
        self.replies = {}
        self.seen = []  # (path, {lower-case name: value}) of each request
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile('rb') as reader:
            try:
                method, path, headers = self.read(reader)
                self.seen.append((path, headers))
                reply = self.reply_to(path, headers)
                self.write(connection, reply.head())
                for piece in reply.pieces() if method != 'HEAD' else ():
                    self.write(connection, piece)
                if reply.cut is None:
                    self.finish(connection)
            except (OSError, ValueError):
                return  # the server went away

    def reply_to(self, path, _headers):
        return self.replies.get(path.split('?')[0], Reply(b'no such reply', 404))

    @classmethod
    def read(cls, reader):
        """(method, path, {lower-case name: value}) of a request."""
        method, path, headers = read_head(reader)
        reader.read(int(headers.get('content-length', 0)))
        return method, path, headers

    @staticmethod
    def write(connection, data):
        connection.sendall(data)

    @staticmethod
    def finish(connection):
        """The answer was given in full."""

    def on(self, path, *args, **kwargs):
        self.replies[path] = Reply(*args, **kwargs)
        return path

    def close(self):
        self.listener.close()


def opaque(tag):
    """What the weak comparison of RFC 9110 section 8.8.3.2 compares."""
    return tag.strip().removeprefix('W/')


class Validating(Origin):
    """Answers If-None-Match with 304 when one of the tags is the reply's (section 13.1.2)."""

    def reply_to(self, path, headers):
        reply = super().reply_to(path, headers)
        tags = [opaque(tag) for tag in headers.get('if-none-match', '').split(',')]
        if any(name == 'ETag' and opaque(value) in tags for name, value in reply.headers):
            return Reply(status=304, framing='none', headers=[
                header for header in reply.headers if header[0] != 'Content-Type'])
        return reply
