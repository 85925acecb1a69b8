# SPDX-License-Identifier: MIT
"""Stock lighttpd with mod_terse."""
import os
import shutil
import signal

import client
from server import Entry, Server
from sites import MEDIA_TYPES

STOCK_MODULES = ['mod_setenv', 'mod_accesslog', 'mod_proxy', 'mod_fastcgi', 'mod_scgi', 'mod_cgi',
                 'mod_status']
GATEWAYS = {'http': 'proxy', 'fastcgi': 'fastcgi', 'scgi': 'scgi'}
# mod_cgi 1.4.69 loses scripts from its list, and the list when it ends; nothing else of it takes
# memory by that function.
LEAKS_OF_LIGHTTPD = ['ck_malloc']
STATUS_PATH = '/terse-test-status'
LOG_FORMAT = r'%m\t%U\t%q\t%s\t%{terse}e\t%{ratio}e'


def quoted(text):
    return '"' + str(text).replace('\\', '\\\\').replace('"', '\\"') + '"'


def table(pairs):
    return '( ' + ', '.join(f'{quoted(k)} => {quoted(v)}' for k, v in pairs.items()) + ' )'


def _settings(enable, params):
    lines = []
    if enable is not None:
        lines.append(f'terse.enable = "{"enable" if enable else "disable"}"')
    if params:
        lines.append(f'terse.params = {table(params)}')
    return lines


def _scope(scope):
    if scope.host:
        condition = f'$HTTP["host"] == {quoted(scope.host)}'
    else:
        condition = f'$HTTP["url"] =~ {quoted("^" + scope.path.replace(".", "[.]"))}'
    lines = _settings(scope.enable, scope.params)
    if scope.headers:
        lines.append(f'setenv.add-response-header = {table(scope.headers)}')
    if scope.origin:
        lines.append(f'{GATEWAYS[scope.via]}.server = ( {quoted(scope.path)} => (( '
                     f'"host" => "127.0.0.1", "port" => {scope.origin}, "check-local" => "disable", '
                     f'"read-timeout" => {scope.patience} )) )')
    for inner in scope.scopes:
        lines += _scope(inner)
    return [condition + ' {'] + ['  ' + line for line in lines] + ['}']


class Lighttpd(Server):
    name = 'lighttpd'
    binary = '/usr/sbin/lighttpd'
    module_built = 'hosts/lighttpd/mod_terse.so'
    module = 'mod_terse'
    quiet_path = STATUS_PATH
    good_exits = (0, 1)  # 1: connections were open
    slow = ('many-aborts',)
    lacks = {
        'error-doc': 'it has settings of its own, error-handler and the like',
        'open-door': 'it may close connections while it starts again',
    }

    def __init__(self, built, folder, site):
        # what it opens after chroot() lies inside
        super().__init__(built, site.chroot or folder, site)

    def _file(self, name):
        return os.path.join(self.folder, name)

    def _seen(self, path):
        """A path as the server sees it once it has started."""
        return '/' + os.path.relpath(path, self.site.chroot) if self.site.chroot else path

    def modules(self):
        stock = STOCK_MODULES + (['mod_openssl'] if self.site.tls else [])
        if self.site.order == 'first':
            return [self.module] + stock
        if self.site.order == 'both':
            return stock + ['mod_deflate', self.module]
        if self.site.order == 'stock':
            return stock + ['mod_deflate']
        return stock + [self.module]

    def _tls(self):
        """A second port."""
        if not self.site.tls:
            return []
        certificate, key = map(quoted, self.site.tls)
        return [f'$SERVER["socket"] == "127.0.0.1:{self.tls_port}" {{',
                f'  ssl.engine = "enable"  ssl.pemfile = {certificate}  ssl.privkey = {key}', '}']

    def _terse(self):
        site = self.site
        return [f'$HTTP["url"] == "{STATUS_PATH}" {{ terse.enable = "disable" }}',
                f'terse.plugin = {quoted(site.plugin or self.built.plugin)}',
                *_settings(site.enable, site.params)]

    def config(self):
        site = self.site
        lines = [
            f'server.modules = ( {", ".join(quoted(name) for name in self.modules())} )',
            'server.bind = "127.0.0.1"',
            f'server.port = {self.port}',
            f'server.document-root = {quoted(self._seen(site.root))}',
            f'server.errorlog = {quoted(self._seen(self._file("error.log")))}',
            f'accesslog.filename = {quoted(self._seen(self._file("access.log")))}',
            f'accesslog.format = "{LOG_FORMAT}"',
            'server.max-keep-alive-requests = 100000',
            f'server.upload-dirs = ( {quoted(self._seen(self._file("uploads")))} )',
            'index-file.names = ( "index.html" )',
            f'mimetype.assign = {table(MEDIA_TYPES)}',
            'cgi.assign = ( ".cgi" => "/bin/sh" )',
            f'$HTTP["url"] == "{STATUS_PATH}" {{',
            f'  status.statistics-url = "{STATUS_PATH}"',
            '}',
        ]
        if site.chroot:
            lines.append(f'server.chroot = {quoted(site.chroot)}')
        if site.user:
            lines.append(f'server.username = {quoted(site.user)}')
        if site.workers:
            lines.append(f'server.max-worker = {site.workers}')
        if site.streaming is not None:
            lines.append(f'server.stream-response-body = {site.streaming}')
        lines += self._tls()
        if site.order != 'stock':
            lines += self._terse()
        for scope in site.scopes:
            lines += _scope(scope)
        return '\n'.join(lines + [site.raw, ''])

    def configure(self):
        for name in ('error.log', 'access.log'):
            open(self._file(name), 'ab').close()
        os.makedirs(self._file('uploads'), exist_ok=True)
        if self.site.user:
            for name in ('error.log', 'access.log', 'uploads'):
                shutil.chown(self._file(name), self.site.user)
        with open(self._file('lighttpd.conf'), 'w', encoding='utf-8') as file:
            file.write(self.config())

    def _command(self, *flags):
        return [self.binary, *flags, '-f', self._file('lighttpd.conf'),
                '-m', self.built.lighttpd_modules]

    def command(self):
        return self._command('-D')

    def check_command(self):
        return self._command('-tt')

    def environment(self):
        env = super().environment()
        with open(self._file('leaks'), 'w', encoding='ascii') as file:
            file.writelines(f'leak:{function}\n' for function in LEAKS_OF_LIGHTTPD)
        env['LSAN_OPTIONS'] = f'exitcode=99:print_suppressions=0:suppressions={file.name}'
        return env

    def _read(self, name):
        try:
            with open(self._file(name), encoding='utf-8', errors='replace') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    @staticmethod
    def own_lines(text):
        return [line for line in text.splitlines() if '(mod_terse/' in line]

    def log(self):
        return self._read('stderr') + self._read('error.log')

    def entries(self):
        if self.alive():
            self.process.send_signal(signal.SIGHUP)  # the log is written out at once, not in 4 s
        found = []
        for line in self.lines_of_log():
            method, path, query, status, note, ratio = line.split('\t')
            target = f'{path}?{query}' if query else path
            coding, _, reason = ('identity/' if note == '-' else note).partition('/')
            found.append(Entry(method, target, int(status), coding, reason, ratio))
        return found

    def counters(self):
        text = client.h1(self.port, STATUS_PATH).body.decode()
        pairs = [line.split(': ') for line in text.splitlines()]
        return {name: int(value) for name, value in pairs}

    def reload(self):
        self.process.send_signal(signal.SIGUSR1)

    def binaries(self):
        return [self.binary, os.path.join(self.built.lighttpd_modules, f'{self.module}.so')]
