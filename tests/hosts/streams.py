# SPDX-License-Identifier: MIT
"""An HTTP/2 client with its hands on the streams: many at once, small windows, resets."""
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
from client import Answer, Broken, connect


class Streams:
    """One connection, with prior knowledge or over TLS.  window: what the server may send of a
    stream before it is told more; feed: whether it is told so as bytes come."""

    def __init__(self, port, window=65535, feed=True, tls=False):
        self.feed = feed
        self.scheme = 'https' if tls else 'http'
        self.answers = {}  # stream: Answer
        self.ended, self.broken = set(), set()
        self.order = []  # streams, as their data came
        self.socket = connect(port, tls='h2' if tls else '')
        self.state = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=True, header_encoding='latin-1'))
        self.state.initiate_connection()
        self.state.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.state.increment_flow_control_window(1 << 30)
        self._send()

    def _send(self):
        self.socket.sendall(self.state.data_to_send())

    def ask(self, path, headers=(), method='GET', body=b''):
        stream = self.state.get_next_available_stream_id()
        length = [('content-length', str(len(body)))] if body else []
        self.state.send_headers(stream, [
            (':method', method), (':scheme', self.scheme), (':authority', '127.0.0.1'),
            (':path', path), *((name.lower(), value) for name, value in headers), *length],
            end_stream=not body)
        self.send(stream, body, end=True)
        return stream

    def begin(self, path, headers, length):
        """A POST whose body is to follow."""
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [
            (':method', 'POST'), (':scheme', self.scheme), (':authority', '127.0.0.1'),
            (':path', path), *((name.lower(), value) for name, value in headers),
            ('content-length', str(length))])
        self._send()
        return stream

    def send(self, stream, body, end=False):
        """As much as the server's windows let through, in frames of the size that it takes."""
        most = self.state.max_outbound_frame_size
        for at in range(0, len(body), most):
            part = body[at:at + most]
            self.until(lambda n=len(part): self.state.local_flow_control_window(stream) >= n)
            self.state.send_data(stream, part, end_stream=end and at + most >= len(body))
            self._send()
        self._send()

    def open_window(self, stream, size):
        self.state.increment_flow_control_window(size, stream)
        self._send()

    def reset(self, stream):
        self.state.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        self.broken.add(stream)
        self._send()

    def _take(self, event):
        stream = getattr(event, 'stream_id', None)
        if isinstance(event, h2.events.ResponseReceived):
            headers = [(name, value) for name, value in event.headers if name[0] != ':']
            status = next(value for name, value in event.headers if name == ':status')
            self.answers[stream] = Answer(int(status), headers, bytearray(), 'h2', 'HTTP/2')
        elif isinstance(event, h2.events.DataReceived):
            self.answers[stream].body += event.data
            self.order.append(stream)
            if self.feed and stream not in self.broken and event.flow_controlled_length:
                self.state.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamEnded):
            self.ended.add(stream)
        elif isinstance(event, h2.events.StreamReset):
            self.broken.add(stream)
        elif isinstance(event, h2.events.ConnectionTerminated):
            raise Broken(f'the server ended the connection: {event.error_code}')

    def turn(self):
        """Takes what comes next."""
        data = self.socket.recv(65536)
        if not data:
            raise Broken('the server closed the connection')
        self._receive(data)

    def _receive(self, data):
        for event in self.state.receive_data(data):
            self._take(event)
        self._send()

    def until(self, condition):
        while not condition():
            self.turn()

    def whole(self, *streams):
        """The answers of these streams."""
        self.until(lambda: all(s in self.ended or s in self.broken for s in streams))
        cut = [stream for stream in streams if stream in self.broken]
        if cut:
            raise Broken(f'the server reset streams {cut}')
        for stream in streams:
            self.answers[stream].body = bytes(self.answers[stream].body)
        return [self.answers[stream] for stream in streams]

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
