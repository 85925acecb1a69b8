# SPDX-License-Identifier: MIT
"""Debian's Varnish as the shared cache in front of a server under test: all that it keeps lies in
one folder, and it hands Accept-Encoding on as the client sent it."""
import os
import signal
import socket
import subprocess

import client
from server import START_SECONDS, STOP_SECONDS, free_port, until

BINARY = '/usr/sbin/varnishd'
VCL = '''vcl 4.1;
import purge;
backend default {{ .host = "127.0.0.1"; .port = "{port}"; }}
sub vcl_recv {{
    if (req.method == "STALE") {{ return (hash); }}
}}
sub vcl_hit {{
    if (req.method == "STALE") {{ purge.soft(0s, 0s, 1h); return (synth(200)); }}
}}
sub vcl_miss {{
    if (req.method == "STALE") {{ purge.soft(0s, 0s, 1h); return (synth(200)); }}
}}
sub vcl_backend_response {{
    set beresp.grace = 0s;
    set beresp.keep = 1h;
}}
'''  # stale ones are kept, but never sent before the backend was asked


class Varnish:
    def __init__(self, folder, backend_port):
        self.folder, self.backend_port = folder, backend_port
        self.port = free_port()
        self.process = None

    def _file(self, name):
        return os.path.join(self.folder, name)

    def command(self):
        """In the foreground, without a port or a secret for commands."""
        return [BINARY, '-F', '-j', 'none', '-n', self._file('state'), '-T', 'none', '-S', 'none',
                '-a', f'127.0.0.1:{self.port}', '-f', self._file('cache.vcl'),
                '-s', 'malloc,32m', '-s', 'Transient=malloc,32m', '-p', 'vsl_space=1m',
                '-p', 'thread_pools=1', '-p', 'thread_pool_min=10',
                # else it asks for gzip in place of all that its clients accept
                '-p', 'http_gzip_support=off']

    def log(self):
        with open(self._file('said'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def start(self):
        assert os.path.exists(BINARY), f'{BINARY}, of the package varnish, is not there'
        with open(self._file('cache.vcl'), 'w', encoding='ascii') as file:
            file.write(VCL.format(port=self.backend_port))
        with open(self._file('said'), 'wb') as said:
            self.process = subprocess.Popen(
                self.command(), start_new_session=True, stdin=subprocess.DEVNULL, stdout=said,
                stderr=said, env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C'})
        until(self._listening_or_dead, START_SECONDS, 'the port of varnishd')
        assert self.process.poll() is None, f'varnishd did not start:\n{self.log()}'
        return self

    def _listening_or_dead(self):
        if self.process.poll() is not None:
            return True
        try:
            with socket.create_connection(('127.0.0.1', self.port), 1):
                return True
        except OSError:
            return False

    def stop(self):
        """Ends it; its manager ends the process that serves."""
        if self.process is None:
            return
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.returncode == 0, f'varnishd: {process.returncode}\n{self.log()}'

    def get(self, target, headers=()):
        return client.h1(self.port, target, headers)

    def grow_stale(self, target):
        """All that it has of a target gets too old, at once."""
        assert client.h1(self.port, target, method='STALE').status == 200


def from_cache(answer):
    """X-Varnish has a second number, that of the request that brought the object."""
    return len(answer.header('x-varnish').split()) == 2
