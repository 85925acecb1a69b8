# SPDX-License-Identifier: MIT
"""Stock h2o with the preloaded shim: in worker mode, and with a master where it is to reload."""
import json
import os
import shutil
import signal
from dataclasses import replace

import client
from server import Entry, Server
from sites import MEDIA_TYPES, Scope

STATUS_PATH = '/terse-test-status'
LOG_FORMAT = '%m\t%U%q\t%s\t%{TERSE}e'
CGI = '/usr/share/h2o/fastcgi-cgi'


def joined(outer, inner):
    """What holds in a scope inside another one: H2O's paths do not nest, so it is written out."""
    return replace(inner,
                   host=inner.host or outer.host,
                   enable=outer.enable if inner.enable is None else inner.enable,
                   params={**outer.params, **inner.params},
                   headers={**outer.headers, **inner.headers},
                   origin=inner.origin or outer.origin)


def flat(scopes, outer):
    """{(host, path): Scope}"""
    found = {}
    for scope in scopes:
        whole = joined(found.get((scope.host, scope.path or '/'), outer), scope)
        found[scope.host, scope.path or '/'] = whole
        found.update(flat(scope.scopes, whole))
    return found


def setting(enable, params):
    """The value of `terse`."""
    return (params or 'ON') if enable else 'OFF'


class H2O(Server):
    name = 'h2o'
    binary = '/usr/bin/h2o'
    module_built = 'hosts/h2o/terse-h2o.so'
    quiet_path = f'{STATUS_PATH}/json'
    unknown_settings = ()  # of those below
    lacks = {
        'ratio': 'no figure of the ratio for the access log',
        'block-names': 'a refusal is placed by file and line (test_preload.py)',
        'module-order': 'no modules, and so no order of them',
        'processes': 'threads in place of worker processes',
        'chroot': 'no such setting',
        'gateways': 'its FastCGI is not asked here',
        'spools': 'it keeps request bodies in memory',
        'error-handlers': 'it has a setting of its own, error-doc',
        'fast-clock': 'the case is about a habit of lighttpd',
    }
    slow = ('many-aborts',)

    def _file(self, name):
        return os.path.join(self.folder, name)

    def _scripts(self, terse=None):
        """A handler inherits no setting of a path: it has its own."""
        spawn = {'command': f'exec {CGI}'}
        if os.geteuid() == 0:
            spawn['user'] = self.site.user or 'root'
        handler = {'extension': ['.cgi'], 'fastcgi.spawn': spawn}
        return handler if terse is None else {**handler, 'terse': terse}

    def _path(self, url, scope):
        settings = {'terse': setting(scope.enable, scope.params)}
        if scope.origin:
            settings['proxy.reverse.url'] = f'http://127.0.0.1:{scope.origin}{url}'
        else:
            settings['file.dir'] = os.path.join(self.site.root, url.strip('/'))
        if scope.scripts:
            settings['file.custom-handler'] = self._scripts(settings['terse'])
        if scope.headers:
            (name, value), = scope.headers.items()  # this H2O takes one, and no list
            settings['header.add'] = f'{name}: {value}'
        return settings

    def _hosts(self):
        top = Scope('/', enable=self.site.enable, params=self.site.params)
        hosts = {'default': {'/': self._path('/', top)}}
        for (host, url), scope in flat(self.site.scopes, top).items():
            hosts.setdefault(host or 'default', {})[url] = self._path(url, scope)
        for paths in hosts.values():
            paths.setdefault(f'{STATUS_PATH}', {'status': 'ON', 'terse': 'OFF'})
        return {host: {'paths': paths} for host, paths in hosts.items()}

    def _second_listen(self):
        """H2O takes the same name again, and no list."""
        if not self.site.tls:
            return []
        certificate, key = self.site.tls
        ssl = {'certificate-file': certificate, 'key-file': key}
        listen = {'host': '127.0.0.1', 'port': self.tls_port, 'ssl': ssl}
        return [f'listen: {json.dumps(listen, indent=1)}']

    def config(self):
        site = self.site
        types = {}
        for extension, media_type in MEDIA_TYPES.items():
            types.setdefault(media_type, []).append(extension)
        settings = {
            'listen': {'host': '127.0.0.1', 'port': self.port},
            'num-threads': site.workers or self.built.threads,
            'access-log': {'path': self._file('access.log'), 'format': LOG_FORMAT},
            'error-log': self._file('error.log'),
            'terse.plugin': site.plugin or self.built.plugin,
            'terse': setting(site.enable, site.params),
            'file.mime.settypes': types,
            'file.index': ['index.html'],
            'file.custom-handler': self._scripts(),
            'hosts': self._hosts(),
        }
        if os.geteuid() == 0:
            settings['user'] = site.user or 'root'
        if site.order == 'both':
            settings['compress'] = 'ON'
        lines = [f'{name}: {json.dumps(value, indent=1)}' for name, value in settings.items()
                 if name not in self.unknown_settings]
        return '\n'.join(lines + self._second_listen() + [site.raw, ''])

    def configure(self):
        for name in ('error.log', 'access.log'):
            open(self._file(name), 'ab').close()
            if self.site.user:
                shutil.chown(self._file(name), self.site.user)
        with open(self._file('h2o.conf'), 'w', encoding='utf-8') as file:
            file.write(self.config())

    def environment(self):
        env = super().environment()
        env['LD_PRELOAD'] = ':'.join(filter(None, (env.get('LD_PRELOAD'), self.built.h2o_preload)))
        env['TERSE_STRICT'] = '1'  # a server without Terse would pass half of the cases
        return env

    def _command(self, *flags):
        return [self.binary, *flags, '-c', self._file('h2o.conf')]

    def command(self):
        return self._command('-m', 'master' if self.site.reloads else 'worker')

    def check_command(self):
        return self._command('-m', 'worker', '-t')

    def _read(self, name):
        try:
            with open(self._file(name), encoding='utf-8', errors='replace') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    @staticmethod
    def own_lines(text):
        return [line for line in text.splitlines()
                if line.startswith('[terse]') or 'in command terse' in line]

    def log(self):
        return self._read('stderr') + self._read('error.log')

    def entries(self):
        found = []
        for line in self.lines_of_log():
            method, target, status, note = line.split('\t')
            coding, _, reason = ('identity/' if note == '-' else note).partition('/')
            found.append(Entry(method, target, int(status), coding, reason, ''))
        return found

    def counters(self):
        status = json.loads(client.h1(self.port, self.quiet_path).body)
        return {name: value for name, value in status.items() if name.startswith('terse.')}

    def reload(self):
        assert self.site.reloads  # without a master SIGHUP is the end
        self.process.send_signal(signal.SIGHUP)

    def binaries(self):
        preload = self.built.h2o_preload
        return [self.binary, preload, os.path.join(os.path.dirname(preload), 'terse-h2o.so')]
