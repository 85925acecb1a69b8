# SPDX-License-Identifier: MIT
"""The servers whose decoding is compared: each is a proxy before the same origin, and decodes what
is below /decode/, in both directions, and nothing below /pass/."""
import os

from contenders import Contender, H2oContender, next_port

DEBIAN_MODULES = '/usr/lib/apache2/modules'


class Relay(Contender):
    """One process with one configuration."""
    requests = responses = True  # what it can decode
    decoder = ''

    def __init__(self, built, folder, origin):
        super().__init__(built, folder, folder, '')
        self.origin = origin
        self.port = next_port()

    @classmethod
    def missing(cls, built):
        return '' if os.path.exists(cls.binary) else f'{cls.binary} is not there'


class LighttpdRelay(Relay):
    name, decoder, binary = 'lighttpd', 'Terse', '/usr/sbin/lighttpd'

    def lines(self):
        return ['server.modules = ( "mod_proxy", "mod_terse" )',
                'server.bind = "127.0.0.1"',
                f'server.port = {self.port}',
                f'server.document-root = "{self.root}"',
                f'server.errorlog = "{self._file("error.log")}"',
                f'server.upload-dirs = ( "{self.folder}" )',
                'server.max-keep-alive-requests = 100000000',
                f'terse.plugin = "{self.built.plugin}"',
                # "", for at "/" the server takes the path apart, and conditions see what is left
                f'proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => {self.origin} )) )',
                '$HTTP["url"] =~ "^/decode/" {',
                '  terse.enable = "enable"',
                '  terse.params = ( "decode.responses" => "on", "decode.requests" => "on" )',
                '}']

    def command(self):
        return ['/usr/sbin/lighttpd', '-D', '-f', self._file('server.conf'),
                '-m', self.built.lighttpd_modules]


class H2oRelay(Relay):
    name, decoder, binary = 'h2o', 'Terse', '/usr/bin/h2o'

    @classmethod
    def missing(cls, built):
        return super().missing(built) or H2oContender.missing(built)

    def environment(self):
        return {**super().environment(), 'TERSE_STRICT': '1',
                'LD_PRELOAD': self.built.h2o_preload}

    def lines(self):
        origin = f'http://127.0.0.1:{self.origin}'
        return ['num-threads: 1',
                'http1-request-timeout: 600',
                f'error-log: {self._file("error.log")}',
                f'listen: {{ host: 127.0.0.1, port: {self.port} }}',
                f'terse.plugin: {self.built.plugin}',
                'proxy.timeout.keepalive: 60000',
                'hosts:',
                '  default:',
                '    paths:',
                f'      "/": {{ proxy.reverse.url: "{origin}/" }}',
                '      "/decode/":',
                f'        proxy.reverse.url: "{origin}/decode/"',
                '        terse: { decode.responses: "on", decode.requests: "on" }']

    def command(self):
        return ['/usr/bin/h2o', '-c', self._file('server.conf')]


class NginxRelay(Relay):
    name, decoder, binary, requests = 'nginx', 'gunzip', '/usr/sbin/nginx', False
    packages = ('nginx',)

    def lines(self):
        temporary = [f'  {kind}_temp_path {self._file(kind)};' for kind in
                     ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi')]
        to_origin = ('proxy_pass http://origin; proxy_http_version 1.1; '
                     'proxy_set_header Connection "";')
        return ['daemon off;', 'master_process off;',
                f'pid {self._file("pid")};', f'error_log {self._file("error.log")};',
                'events { }', 'http {', *temporary,
                '  access_log off; keepalive_timeout 600; keepalive_requests 100000000;',
                f'  upstream origin {{ server 127.0.0.1:{self.origin}; keepalive 8; }}',
                f'  server {{ listen 127.0.0.1:{self.port};',
                f'    location / {{ {to_origin} }}',
                f'    location /decode/ {{ gunzip on; {to_origin} }}', '  }', '}']

    def command(self):
        return [self.binary, '-p', self.folder, '-e', self._file('error.log'),
                '-c', self._file('server.conf')]


class ApacheRelay(Relay):
    name, decoder, binary = 'apache', 'mod_deflate', '/usr/sbin/apache2'
    packages = ('apache2-bin',)
    modules = ('mpm_event', 'authz_core', 'proxy', 'proxy_http', 'filter', 'deflate')

    def lines(self):
        loads = [f'LoadModule {name}_module {DEBIAN_MODULES}/mod_{name}.so'
                 for name in self.modules]
        user = ['User www-data', 'Group www-data'] if os.geteuid() == 0 else []
        return [*loads, *user, f'ServerRoot {self.folder}', 'ServerName localhost',
                f'DefaultRuntimeDir {self.folder}', f'PidFile {self._file("pid")}',
                f'ErrorLog {self._file("error.log")}', f'Listen 127.0.0.1:{self.port}',
                'KeepAliveTimeout 600', 'MaxKeepAliveRequests 0',
                'StartServers 1', 'ServerLimit 1', 'ThreadsPerChild 8', 'MaxRequestWorkers 8',
                'MinSpareThreads 1', 'MaxSpareThreads 8',
                f'ProxyPass "/" "http://127.0.0.1:{self.origin}/"',
                '<Location "/decode/">', '  SetOutputFilter INFLATE',
                '  SetInputFilter DEFLATE', '</Location>']

    def command(self):
        return [self.binary, '-DFOREGROUND', '-f', self._file('server.conf')]

    @property
    def pid(self):
        """Of the one process that serves."""
        parent = self.process.pid
        with open(f'/proc/{parent}/task/{parent}/children', encoding='ascii') as children:
            return int(children.read())


RELAYS = (LighttpdRelay, H2oRelay, NginxRelay, ApacheRelay)
