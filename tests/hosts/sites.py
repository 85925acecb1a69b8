# SPDX-License-Identifier: MIT
"""What a case asks of a server, said without naming one: a class per server turns it into a
configuration file."""
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Scope:
    """A part of the site, by the start of its path or by its host, with settings of its own."""
    path: str = ''
    host: str = ''
    enable: bool = None  # None: as outside
    params: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)  # added to the response by the server itself
    origin: int = 0  # port of a backend on 127.0.0.1 that answers for it
    via: str = 'http'  # what is spoken with it: http, fastcgi, scgi
    patience: int = 0  # seconds that it may take for a part of its answer
    scripts: bool = False  # these settings are for scripts below it as well
    scopes: tuple = ()


@dataclass(frozen=True)
class Site:
    root: str  # folder of the files
    enable: bool = True
    params: dict = field(default_factory=dict)
    scopes: tuple = ()
    plugin: str = None  # None: the one that was built
    workers: int = 0
    chroot: str = ''  # root and plugin are then paths inside it
    user: str = ''  # the server starts as root and becomes this one
    # where the module stands: last, first, with the server's own ('both'), or that one alone ('stock')
    order: str = 'last'
    env: dict = field(default_factory=dict)  # of the server's process
    tls: tuple = ()  # (certificate, key): a second port, tls_port, speaks TLS
    streaming: int = None  # lighttpd's server.stream-response-body; None: not said
    reloads: bool = False  # the server is to read configuration and plugin again
    raw: str = ''  # lines in the server's own language, for cases of one server

    def but(self, **changes):
        return replace(self, **changes)


MEDIA_TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.css': 'text/css',
    '.js': 'text/javascript',
    '.json': 'application/json',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain',
    '.jpg': 'image/jpeg',
    '.woff2': 'font/woff2',
    '.wasm': 'application/wasm',
    '.zip': 'application/zip',
    '.events': 'text/event-stream',
    '.grpc': 'application/grpc+proto',
    '.unknown': 'application/x-terse-test',
    '.bin': 'application/octet-stream',
}
