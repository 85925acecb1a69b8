# SPDX-License-Identifier: MIT
"""A server under test: started with setsid on 127.0.0.1, watched, ended by its process id."""
import os
import random
import signal
import socket
import subprocess
import time
from dataclasses import dataclass

START_SECONDS = 20
STOP_SECONDS = 20


def free_port():
    """TERSE_PORTS, "from-to": those that this run has for itself."""
    low, high = (int(end) for end in os.environ.get('TERSE_PORTS', '10240-32767').split('-'))
    while True:
        port = random.randint(low, high)
        try:
            with socket.create_server(('127.0.0.1', port)):
                return port
        except OSError:
            continue


def until(condition, seconds=10, what='what was waited for'):
    """Polls; a condition that never comes true is a failure."""
    end, pause = time.monotonic() + seconds, 0.001
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f'{what} did not come within {seconds} s'
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


@dataclass(frozen=True)
class Entry:
    """A line of the access log."""
    method: str
    target: str
    status: int
    coding: str  # 'identity' when none
    reason: str  # '' where Terse is off
    ratio: str


class Server:
    """What the cases use.  A subclass knows one server: its configuration, logs and counters."""
    name = ''
    good_exits = (0,)
    quiet_path = '/'  # where Terse is off
    lacks = {}  # what cases may need and this server has not: {need: reason}
    slow = ()  # what takes it minutes
    gaps = {}  # what it should have: these cases fail, and must, until Terse's shim is better

    def __init__(self, built, folder, site):
        self.built, self.folder, self.site = built, folder, site
        self.port = free_port()
        self.tls_port = free_port() if site.tls else None
        self.process = None

    # -- to be given by a subclass
    binary = ''
    module_built = ''  # Terse's own file, in the build folder

    def configure(self):
        """Writes the configuration."""
        raise NotImplementedError

    def command(self):
        raise NotImplementedError

    def check_command(self):
        """The server's own test of a configuration."""
        raise NotImplementedError

    def log(self):
        """Everything that the server has written but the access log."""
        raise NotImplementedError

    @staticmethod
    def own_lines(text):
        """Those lines of a log that the module wrote."""
        raise NotImplementedError

    def entries(self):
        """The access log so far: [Entry]."""
        raise NotImplementedError

    def lines_of_log(self):
        """The whole ones: the last may be on its way."""
        return self._read('access.log').rpartition('\n')[0].splitlines()

    def counters(self):
        """{name: number}"""
        raise NotImplementedError

    def reload(self):
        """Has the configuration and the plugin read again, without ending a response."""
        raise NotImplementedError

    def binaries(self):
        """The files whose bytes a swap must not change."""
        raise NotImplementedError

    # -- the same for all
    @classmethod
    def missing(cls, build):
        """Why its cases cannot run here; '' when they can."""
        wanted = (cls.binary, os.path.join(build, cls.module_built))
        return ', '.join(f'{path} is not there' for path in wanted if not os.path.exists(path))

    def environment(self):
        env = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C'}
        env.update(self.built.preload_environment)
        env.update(self.site.env)
        return env

    def check(self):
        """(exit code, what it said) of the server's test of the configuration."""
        self.configure()
        done = subprocess.run(self.check_command(), env=self.environment(), capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=START_SECONDS, check=False)
        return done.returncode, (done.stdout + done.stderr).decode()

    def spawn(self):
        self.configure()
        with open(os.path.join(self.folder, 'stderr'), 'ab') as out:
            self.process = subprocess.Popen(
                self.command(), env=self.environment(), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def start(self):
        self.spawn()
        until(self._answering_or_dead, START_SECONDS, 'an answer of the server')
        assert self.process.poll() is None, f'the server did not start:\n{self.log()}'
        return self

    def refuse(self):
        """Starts it where it must not start: (exit code, what it said)."""
        self.spawn()
        code = self.process.wait(START_SECONDS)
        self.process = None
        return code, self.log()

    def _answering_or_dead(self):
        """A connection is not enough: the kernel takes it while the server still reads settings."""
        if self.process.poll() is not None:
            return True
        try:
            with socket.create_connection(('127.0.0.1', self.port), 1) as probe:
                probe.sendall(f'GET {self.quiet_path} HTTP/1.0\r\n\r\n'.encode())
                return probe.recv(1) == b'H'
        except OSError:
            return False

    @property
    def pid(self):
        return self.process.pid

    def rss(self):
        """Resident memory in KB."""
        with open(f'/proc/{self.pid}/status', encoding='ascii') as status:
            return int(next(line for line in status if line.startswith('VmRSS')).split()[1])

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """Ends the server; it must have lived until now and must end well."""
        if self.process is None:
            return
        process, self.process = self.process, None
        died = process.poll()
        if died is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise AssertionError(f'the server did not end:\n{self.log()}') from None
        reports = self.built.sanitizer_reports()
        assert not reports, f'sanitizer report:\n{reports}'
        assert died is None, f'the server died, {died}:\n{self.log()}'
        assert process.returncode in self.good_exits, \
            f'the server ended with {process.returncode}:\n{self.log()}'

    def wait_idle(self):
        """Until every stream was given back.  The counters are of the last full second."""
        until(lambda: self.counters().get('terse.streams.live') == 0, 15, 'the end of every stream')

    def wait_entries(self, target, count):
        """The access log's entries of a target, once there are so many: they come behind."""
        found = []

        def there():
            found[:] = [entry for entry in self.entries() if entry.target == target]
            return len(found) >= count

        until(there, 10, f'{count} times {target} in the access log')
        assert len(found) == count, found
        return found

    def wait_entry(self, target):
        """The access log's entry of a request whose target no other request has."""
        return self.wait_entries(target, 1)[0]
