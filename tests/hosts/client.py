# SPDX-License-Identifier: MIT
"""Two clients: sockets, where a case needs every byte of HTTP/1 under control, and curl for HTTP/2.
Neither decodes; the decoders are other people's (hosts/decoders.py)."""
import os
import socket
import ssl
import subprocess
import tempfile

from decoders import decode

TIMEOUT = 30


class Broken(Exception):
    """The answer ended before its framing said so, or was no answer."""


class Answer:
    def __init__(self, status, headers, body=b'', framing='none', version=''):
        self.status = status
        self.headers = headers  # (lower-case name, value), in order
        self.body = body  # as it came, without the framing
        self.framing = framing  # length, chunked, close, none, h2
        self.version = version

    def all(self, name):
        return [value for key, value in self.headers if key == name]

    def header(self, name):
        """The one value of a header; None when absent.  Twice is a fault where a case asks so."""
        values = self.all(name)
        assert len(values) < 2, f'{name} came {len(values)} times: {values}'
        return values[0] if values else None

    @property
    def coding(self):
        return self.header('content-encoding')

    @property
    def vary(self):
        return [item.strip().lower() for value in self.all('vary') for item in value.split(',')]

    @property
    def plain(self):
        return decode(self.coding, self.body)

    def __repr__(self):
        return f'<{self.status} {self.headers} {len(self.body)} bytes, {self.framing}>'


# ---- HTTP/1 --------------------------------------------------------------------------------------

def request_bytes(path, headers=(), method='GET', version='HTTP/1.1', host='127.0.0.1', body=b''):
    lines = [f'{method} {path} {version}']
    if version != 'HTTP/1.0':
        lines.append(f'Host: {host}')
    lines += [f'{name}: {value}' for name, value in headers]
    if body:
        lines.append(f'Content-Length: {len(body)}')
    return '\r\n'.join(lines + ['', '']).encode('latin-1') + body


def connect(port, timeout=TIMEOUT, tls=''):
    """tls: ALPN's name of the protocol that is to be agreed on, over TLS."""
    plain = socket.create_connection(('127.0.0.1', port), timeout)
    if not tls:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([tls])
    secured = context.wrap_socket(plain)
    assert secured.selected_alpn_protocol() == tls
    return secured


class Connection:
    """One HTTP/1 connection."""

    def __init__(self, port, timeout=TIMEOUT, tls=False):
        self.socket = connect(port, timeout, 'http/1.1' if tls else '')
        self.reader = self.socket.makefile('rb')

    def send(self, *args, **kwargs):
        self.socket.sendall(request_bytes(*args, **kwargs))

    def _line(self):
        line = self.reader.readline(65536)
        if not line.endswith(b'\r\n'):
            raise Broken(f'connection closed inside the head: {line!r}')
        return line[:-2].decode('latin-1')

    def _exactly(self, n):
        data = self.reader.read(n)
        if len(data) != n:
            raise Broken(f'{len(data)} of {n} bytes of the body came')
        return data

    def _chunk_size(self):
        line = self._line()
        try:
            return int(line.split(';')[0], 16)
        except ValueError:
            raise Broken(f'no chunk begins like this: {line!r}') from None

    def chunks(self):
        """The chunks of a body, each when it has come."""
        while True:
            size = self._chunk_size()
            if size == 0:
                while self._line():
                    pass
                return
            yield self._exactly(size)
            if self._line():
                raise Broken('no line end after a chunk')

    def head(self):
        version, status, *_ = self._line().split(' ', 2)
        headers = []
        while True:
            line = self._line()
            if not line:
                return Answer(int(status), headers, version=version)
            name, value = line.split(':', 1)
            headers.append((name.lower(), value.strip()))

    def answer(self, method='GET'):
        """The next answer, whole."""
        answer = self.head()
        length, transfer = answer.header('content-length'), answer.header('transfer-encoding')
        assert length is None or transfer is None, 'framed twice'
        if method == 'HEAD' or answer.status in (204, 304):
            return answer
        if transfer is not None:
            answer.framing, answer.body = 'chunked', b''.join(self.chunks())
        elif length is not None:
            answer.framing, answer.body = 'length', self._exactly(int(length))
        else:
            answer.framing, answer.body = 'close', self.reader.read()
        return answer

    def rest(self):
        """What still comes until the server closes."""
        return self.reader.read()

    def abort(self):
        """Closes with a reset, as a client that goes away."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\x01\0\0\0\0\0\0\0')
        self.close()

    def close(self):
        self.reader.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def h1(port, path, headers=(), method='GET', version='HTTP/1.1', host='127.0.0.1', timeout=TIMEOUT,
       body=b''):
    """One request on its own connection; nothing may follow the answer."""
    closing = list(headers) + ([('Connection', 'close')] if version == 'HTTP/1.1' else [])
    with Connection(port, timeout) as connection:
        connection.send(path, closing, method, version, host, body)
        answer = connection.answer(method)
        rest = connection.rest()
        assert rest == b'', f'{len(rest)} bytes follow the answer: {rest[:80]!r}'
        return answer


# ---- HTTP/2 --------------------------------------------------------------------------------------

def h2(port, path, headers=(), method='GET', host='127.0.0.1', timeout=TIMEOUT, body=b''):
    """One request by curl, with prior knowledge of HTTP/2."""
    with tempfile.TemporaryDirectory() as folder:
        head, data = os.path.join(folder, 'head'), os.path.join(folder, 'body')
        command = ['curl', '-q', '-s', '-S', '--http2-prior-knowledge', '--noproxy', '*',
                   '--max-time', str(timeout), '--path-as-is', '-D', head, '-o', data,
                   '-H', f'Host: {host}']
        for name, value in headers:
            command += ['-H', f'{name}: {value}' if value else f'{name};']
        command += ['-I'] if method == 'HEAD' else ['-X', method]
        if body:
            command += ['--data-binary', '@-']
        done = subprocess.run(command + [f'http://127.0.0.1:{port}{path}'], input=body,
                              capture_output=True, check=False)
        if done.returncode:
            raise Broken(f'curl {done.returncode}: {done.stderr.decode().strip()}')
        answer = _head_of_curl(head)
        if method != 'HEAD' and os.path.exists(data):
            with open(data, 'rb') as file:
                answer.body = file.read()
        length = answer.header('content-length')
        assert length is None or method == 'HEAD' or answer.status == 304 \
            or int(length) == len(answer.body), 'Content-Length is not the length'
        return answer


def _head_of_curl(path):
    with open(path, encoding='latin-1', newline='') as file:
        block = file.read().rstrip('\r\n').split('\r\n\r\n')[-1].split('\r\n')
    version, status = block[0].split(' ')[:2]
    assert version == 'HTTP/2', block[0]
    headers = [line.split(':', 1) for line in block[1:]]
    return Answer(int(status), [(name.lower(), value.strip()) for name, value in headers],
                  framing='h2', version=version)


PROTOCOLS = {'h1': h1, 'h2': h2}
