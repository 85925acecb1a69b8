# SPDX-License-Identifier: MIT
"""What stands behind the servers when decoding is measured: it answers gzip or plain, as the path
says, and tells what came of a request's body."""
import hashlib
import socketserver
import threading
import zlib


def gzip_of(data):
    coder = zlib.compressobj(6, zlib.DEFLATED, 31)
    return coder.compress(data) + coder.flush()


def account_of(body):
    """What the origin says of a body that it was sent."""
    return hashlib.sha256(body).hexdigest().encode()


def _response(body, coding=''):
    coded = f'Content-Encoding: {coding}\r\n' if coding else ''
    return (f'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{coded}'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body


class _Handler(socketserver.StreamRequestHandler):
    def _headers(self):
        found = {}
        for line in self.rfile:
            if line == b'\r\n':
                break
            name, _, value = line.decode('latin-1').partition(':')
            found[name.lower()] = value.strip()
        return found

    def _body(self, headers):
        if headers.get('transfer-encoding', '').lower() != 'chunked':
            return self.rfile.read(int(headers.get('content-length', 0)))
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _one(self, line):
        method, target, _ = line.decode('latin-1').split()
        headers = self._headers()
        body = self._body(headers)
        if method == 'POST':
            return headers, _response(account_of(body))
        return headers, self.server.answers.get(target.split('/', 2)[-1], self.server.nothing)

    def handle(self):
        try:
            for line in iter(self.rfile.readline, b''):
                headers, answer = self._one(line)
                self.wfile.write(answer)
                if headers.get('connection', '').lower() == 'close' or b'HTTP/1.0' in line:
                    break
        except ConnectionError:
            pass


class CodedOrigin(socketserver.ThreadingTCPServer):
    """Serves /ANYTHING/gzip/NAME and /ANYTHING/plain/NAME of {NAME: bytes}."""
    daemon_threads, allow_reuse_address, request_queue_size = True, True, 64
    nothing = _response(b'-')

    def __init__(self, bodies):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.port = self.server_address[1]
        self.answers = {f'plain/{name}': _response(body) for name, body in bodies.items()}
        self.answers.update({f'gzip/{name}': _response(gzip_of(body), 'gzip')
                             for name, body in bodies.items()})
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
