#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What it costs a proxy to decode its origin's gzip for a client that does not accept it: lighttpd and
H2O with Terse, nginx's gunzip, Apache's INFLATE.  One origin, the same bodies, one core; a response
that passes coded is taken off."""
import argparse
import gzip
import http.client
import os
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(CHECKOUT, 'tests/hosts'), os.path.join(CHECKOUT, 'hosts')]
sys.dont_write_bytecode = True

from bodies import write_site  # noqa: E402
from built import Built  # noqa: E402
from contenders import OFF, TERSE, H2oContender, LighttpdContender, version_of  # noqa: E402
from cost import cost_of  # noqa: E402

APACHE_MODULES = ('mpm_event', 'authz_core', 'proxy', 'proxy_http', 'filter', 'deflate')
JSON_SIZE = 127 * 1024  # one more class


class Origin(LighttpdContender):
    """Serves files that are gzip already, and says so."""

    def lines(self):
        return super().lines() + ['server.modules = ( "mod_setenv" )',
                                  'setenv.add-response-header = ( "Content-Encoding" => "gzip" )']


class Lighttpd(LighttpdContender):
    origin = 0

    def lines(self):
        lines = [line.replace('( "mod_terse" )', '( "mod_proxy", "mod_terse" )')
                 for line in super().lines()]
        return lines + ['terse.params = ( "decode.responses" => "on", "codings" => "gzip" )',
                        f'proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => {self.origin} )) )']


class H2o(H2oContender):
    origin = 0

    def lines(self):
        lines = [line.replace(f'file.dir: {self.root}',
                              f'proxy.reverse.url: "http://127.0.0.1:{self.origin}/"')
                 for line in super().lines()]
        return [line.replace('terse: ON', 'terse: { decode.responses: on, codings: gzip }')
                for line in lines]


class Nginx(LighttpdContender):
    name, module, origin = 'nginx', 'gunzip', 0

    def lines(self):
        return ['daemon off;', 'master_process off;', f'pid {self._file("pid")};',
                f'error_log {self._file("error.log")};', 'events { }', 'http {',
                '  access_log off; gunzip on; keepalive_requests 1000000;',
                *(f'  {kind}_temp_path {self._file(kind)};'
                  for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi')),
                f'  server {{ listen 127.0.0.1:{self.port};',
                f'    location / {{ proxy_pass http://127.0.0.1:{self.origin}; gzip_proxied any;',
                '      gzip_vary on; } }', '}']

    def command(self):
        return ['/usr/sbin/nginx', '-c', self._file('server.conf'), '-p', self.folder]


class Apache(LighttpdContender):
    name, module, origin = 'apache', 'mod_deflate, INFLATE', 0

    def lines(self):
        return [*(f'LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so'
                  for name in APACHE_MODULES),
                f'ServerName 127.0.0.1\nListen 127.0.0.1:{self.port}',
                f'PidFile {self._file("pid")}\nErrorLog {self._file("error.log")}',
                f'DefaultRuntimeDir {self.folder}', 'MaxKeepAliveRequests 0',
                f'ProxyPass / http://127.0.0.1:{self.origin}/',
                # INFLATE itself does not ask what the client accepts
                'FilterDeclare plain\n'
                'FilterProvider plain INFLATE "! (%{req:Accept-Encoding} =~ /gzip/)"\n'
                'FilterChain plain']

    def command(self):
        return ['/usr/sbin/apache2', '-X', '-f', self._file('server.conf')]


CONTENDERS = {'lighttpd, Terse': Lighttpd, 'h2o, Terse': H2o, 'nginx, gunzip': Nginx,
              'Apache, INFLATE': Apache}


def write_coded(site, root):
    """{size: [(path, plain)]}, each file as gzip makes it."""
    for bodies in site.values():
        for path, plain in bodies:
            with open(root + path, 'wb') as file:
                file.write(gzip.compress(plain, 6, mtime=0))
    return site


def add_json(site, root):
    """The records of a class of its own, from the longest ones."""
    text = b''.join(plain for path, plain in site['64 KB'] if path.endswith('.json'))
    plain = (text * 3)[:JSON_SIZE]
    os.makedirs(os.path.join(root, 'json'))
    site['127 KB JSON'] = [('/json/records.json', plain)]


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)

    def ask(self, path, plain, accept):
        self.connection.request('GET', path, headers={'Accept-Encoding': accept})
        answer = self.connection.getresponse()
        data, coding = answer.read(), answer.getheader('Content-Encoding')
        if coding == 'gzip':
            data = gzip.decompress(data)
        if answer.status != 200 or data != plain or (coding == 'gzip') != (accept == 'gzip'):
            raise SystemExit(f'{path} for {accept} at {self.connection.port}: {answer.status}, '
                             f'{coding}, {len(data)} bytes')


def block(server, client, bodies, accept, requests):
    """Microseconds of CPU that a response cost."""
    before = cost_of(server.pid)
    for n in range(requests):
        client.ask(*bodies[n % len(bodies)], accept)
    return (cost_of(server.pid) - before).cpu_ns / requests / 1000


def measure(servers, bodies, rounds, requests):
    """{name: [microseconds that decoding added, a round each]}"""
    found = {name: [] for name in servers}
    for n in range(rounds + 1):
        for name, (server, client) in servers.items():
            cost = block(server, client, bodies, 'identity', requests)
            cost -= block(server, client, bodies, 'gzip', requests)
            if n:  # the first one warms up
                found[name].append(cost)
    return found


def print_cell(size, found):
    least = statistics.median(found['nginx, gunzip']) if 'nginx, gunzip' in found else None
    for name, costs in found.items():
        low, middle, high = statistics.quantiles(costs, n=4)
        ratio = f'{least / middle:5.2f}x' if least and middle > 0 else '    -'
        print(f'{size:12} {name:18} {middle:9.1f} us ({low:.1f} to {high:.1f})  {ratio}')


def start(cls, built, folder, root, role, core):
    """Pinned: the server inherits it."""
    place = tempfile.mkdtemp(dir=folder)
    os.chmod(place, 0o755)
    server, mine = cls(built, place, root, role), os.sched_getaffinity(0)
    server.quiet_path = '/json/records.json'  # the origin's own pages would not be gzip
    os.sched_setaffinity(0, {core})
    try:
        return server.start()
    except BaseException:
        server.good_exits = (0, 1, -signal.SIGTERM)
        server.stop()
        raise
    finally:
        os.sched_setaffinity(0, mine)


def run(args, folder):
    built = Built(args.build, os.path.join(folder, 'built'))
    root, cores = os.path.join(folder, 'site'), sorted(os.sched_getaffinity(0))
    site = write_site(os.path.join(args.bodies, 'usr/share'), root)
    add_json(site, root)
    write_coded(site, root)
    started, servers = [start(Origin, built, folder, root, OFF, cores[0])], {}
    try:
        for name, cls in CONTENDERS.items():
            cls.origin = started[0].port
            server = start(cls, built, folder, root, TERSE, cores[-1])
            started.append(server)
            servers[name] = (server, Client(server.port))
        os.sched_setaffinity(0, {cores[0]})
        print(f'nginx {version_of("nginx")}, Apache {version_of("apache2")}; added CPU of one '
              f'response, median and quartiles of {args.rounds} rounds, and nginx\'s beside it')
        for size, bodies in site.items():
            print_cell(size, measure(servers, bodies, args.rounds, args.requests))
    finally:
        for _, client in servers.values():
            client.connection.close()
        for server in started:
            server.good_exits = (0, 1, -signal.SIGTERM)
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--build', required=True, help='build folder (-Dbuildtype=release)')
    parser.add_argument('--bodies', help='folder of unpacked packages (default: prepare.sh)')
    parser.add_argument('--rounds', type=int, default=11)
    parser.add_argument('--requests', type=int, default=100, help='of a block')
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.bodies = args.bodies or subprocess.run(
        [os.path.join(HERE, 'prepare.sh'), 'bodies'], stdout=subprocess.PIPE, text=True,
        check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix='terse-decoding-') as folder:
        os.chmod(folder, 0o755)
        run(args, folder)


if __name__ == '__main__':
    main()
