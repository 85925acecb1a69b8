# SPDX-License-Identifier: MIT
"""The servers that are compared: one class a server, one process a contender.

A contender is the server with its own module, the same once more (the A/A row), the server with
Terse at its default settings, with Terse at the module's levels, and with coding off."""
import os
import re
import shutil
import signal
import socket
import subprocess

from server import Server
from sites import Site

FIRST_PORT = 19300
MODULE, AGAIN, TERSE, LEVEL, OFF = 'module', 'module again', 'terse', 'terse, its levels', 'off'
ORDER = (MODULE, TERSE, LEVEL, AGAIN, OFF)
MEDIA_TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript',
               '.json': 'application/json', '.svg': 'image/svg+xml'}


def next_port(start=FIRST_PORT):
    for port in range(start, start + 500):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue
    raise OSError(f'no free port from {start}')


def version_of(package):
    done = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', package], check=True,
                          capture_output=True, text=True)
    return done.stdout


class Contender(Server):
    """One process.  A subclass knows the configuration of its server."""
    module = ''  # what the server calls its own
    packages = ()
    levels = {}  # coding: level of its own module by default
    settings = {}  # of Terse, for those levels
    good_exits = (0, 1, -signal.SIGTERM)  # 1: connections were open; the last: before it listened

    def __init__(self, built, folder, root, role):
        super().__init__(built, folder, Site(root=root))
        self.root, self.role = root, role
        self.port = next_port()

    @classmethod
    def missing(cls, _built):
        """Why there is no contender with Terse; empty when there is one."""
        return ''

    def lines(self):
        """The configuration file."""
        raise NotImplementedError

    def _file(self, name):
        return os.path.join(self.folder, name)

    def configure(self):
        with open(self._file('server.conf'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(self.lines()) + '\n')

    def log(self):
        text = ''
        for name in ('stderr', 'error.log'):
            if os.path.exists(self._file(name)):
                with open(self._file(name), encoding='utf-8', errors='replace') as file:
                    text += file.read()
        return text

    @property
    def with_terse(self):
        return self.role in (TERSE, LEVEL)


class LighttpdContender(Contender):
    name = 'lighttpd'
    module = 'mod_deflate'
    packages = ('lighttpd', 'lighttpd-mod-deflate')
    levels = {'gzip': 6, 'br': 5, 'zstd': 3}
    settings = {'gzip.level': 6, 'br.quality': 5, 'zstd.level': 3}

    def lines(self):
        lines = [
            'server.bind = "127.0.0.1"',
            f'server.port = {self.port}',
            f'server.document-root = "{self.root}"',
            f'server.errorlog = "{self._file("error.log")}"',
            f'server.upload-dirs = ( "{self.folder}" )',
            'server.max-keep-alive-requests = 100000000',
            'mimetype.assign = ( ' +
            ', '.join(f'"{end}" => "{kind}"' for end, kind in MEDIA_TYPES.items()) + ' )',
        ]
        if self.role in (MODULE, AGAIN):
            kinds = ', '.join(f'"{kind}"' for kind in MEDIA_TYPES.values())
            codings = ', '.join(f'"{coding}"' for coding in self.levels)
            lines += ['server.modules = ( "mod_deflate" )',
                      f'deflate.mimetypes = ( {kinds} )',
                      f'deflate.allowed-encodings = ( {codings} )']
        if self.with_terse:
            lines += ['server.modules = ( "mod_terse" )',
                      f'terse.plugin = "{self.built.plugin}"',
                      'terse.enable = "enable"']
        if self.role == LEVEL:
            pairs = ', '.join(f'"{key}" => "{value}"' for key, value in self.settings.items())
            lines.append(f'terse.params = ( {pairs} )')
        return lines

    def command(self):
        return ['/usr/sbin/lighttpd', '-D', '-f', self._file('server.conf'),
                '-m', self.built.lighttpd_modules]


class H2oContender(Contender):
    name = 'h2o'
    module = 'compress: ON'
    packages = ('h2o',)
    levels = {'gzip': 1, 'br': 1}
    settings = {'gzip.level': 1, 'br.quality': 1}
    parts = ('terse-h2o-preload.so', 'terse-h2o.so')

    @classmethod
    def missing(cls, built):
        there = [os.path.exists(os.path.join(built.build, 'hosts/h2o', part)) for part in cls.parts]
        return '' if all(there) else 'not built'

    def _shim(self):
        """The preload and the shim side by side, as they are installed; the path of the first."""
        target = os.path.join(self.built.folder, 'h2o')
        os.makedirs(target, exist_ok=True)
        for part in self.parts:
            if not os.path.exists(os.path.join(target, part)):
                shutil.copy(os.path.join(self.built.build, 'hosts/h2o', part), target)
        return os.path.join(target, self.parts[0])

    def environment(self):
        env = super().environment()
        if self.with_terse:
            env.update(LD_PRELOAD=self._shim(), TERSE_STRICT='1')
        return env

    def lines(self):
        lines = ['num-threads: 1',
                 'http1-request-timeout: 600',
                 f'error-log: {self._file("error.log")}',
                 f'listen: {{ host: 127.0.0.1, port: {self.port} }}',
                 'hosts:',
                 '  default:',
                 '    paths:',
                 f'      "/": {{ file.dir: {self.root} }}']
        if self.role in (MODULE, AGAIN):
            lines.append('compress: ON')
        if self.with_terse:
            lines.append(f'terse.plugin: {self.built.plugin}')
        if self.role == TERSE:
            lines.append('terse: ON')
        if self.role == LEVEL:
            pairs = ', '.join(f'{key}: {value}' for key, value in self.settings.items())
            lines.append(f'terse: {{ {pairs} }}')
        return lines

    def command(self):
        return ['/usr/bin/h2o', '-c', self._file('server.conf')]


SERVERS = {cls.name: cls for cls in (LighttpdContender, H2oContender)}


class Contest:
    """The contenders of one server, running; each on the core that is kept for servers."""

    def __init__(self, cls, built, folder, root, server_core):
        self.cls, self.core = cls, server_core
        self.without_terse = cls.missing(built)
        self.running = {}
        for role in ORDER:
            if self.without_terse and role in (TERSE, LEVEL):
                continue
            place = os.path.join(folder, f'{cls.name}-{ORDER.index(role)}')
            os.makedirs(place)
            contender = cls(built, place, root, role)
            try:
                self._start(contender)
            except BaseException:  # an interruption too must leave no server behind
                self.stop()
                raise
            self.running[role] = contender

    def _start(self, contender):
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.core})  # which the server inherits
        try:
            contender.start()
        except BaseException:
            if contender.alive():
                contender.stop()
            raise
        finally:
            os.sched_setaffinity(0, mine)

    def stop(self):
        try:
            while self.running:
                self.running.popitem()[1].stop()
        finally:
            if self.running:  # one that ended badly must not save the others
                self.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def built_versions(built):
    """{what: version} of Terse and its codecs, as `terse info` has them."""
    return dict(re.findall(r'^([a-z]+): +(\S+)$', built.info(), re.M))


