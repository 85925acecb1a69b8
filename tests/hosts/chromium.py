# SPDX-License-Identifier: MIT
"""Debian's Chromium without a window, spoken to over a pair of pipes in the DevTools protocol; it
reaches 127.0.0.1 and nothing else, and what it keeps lies in one folder."""
import base64
import itertools
import json
import os
import select
import shlex
import subprocess
import time
from dataclasses import dataclass, field

from server import STOP_SECONDS

BINARY = '/usr/lib/chromium/chromium'  # without the flags of /etc/chromium.d
FLAGS = ['--headless=new', '--remote-debugging-pipe', '--no-first-run', '--disable-dev-shm-usage',
         '--disable-gpu', '--no-proxy-server',
         '--disable-background-networking', '--disable-component-update', '--disable-sync',
         '--disable-default-apps', '--disable-extensions', '--disable-domain-reliability',
         '--disable-breakpad', '--no-pings', '--metrics-recording-only',
         '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1']
SECONDS = 60


def key_of(certificate):
    """The name of a certificate's key, by which the browser is told that it is right: what came
    under one that is merely put up with is never kept."""
    told = subprocess.run(
        f'openssl x509 -in {shlex.quote(certificate)} -noout -pubkey |'
        ' openssl pkey -pubin -outform der | openssl dgst -sha256 -binary',
        shell=True, check=True, capture_output=True)
    return base64.b64encode(told.stdout).decode()


class Chromium:
    def __init__(self, folder, certificate):
        self.folder, self.certificate = folder, certificate
        self.numbers = itertools.count(1)
        self.pages = {}  # by session
        self.process = self.to_it = self.from_it = None
        self.read = b''

    def log(self):
        with open(os.path.join(self.folder, 'said'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def start(self):
        assert os.path.exists(BINARY), f'{BINARY}, of the package chromium, is not there'
        flags = FLAGS + [f'--user-data-dir={self.folder}/profile',
                         f'--ignore-certificate-errors-spki-list={key_of(self.certificate)}']
        flags += ['--no-sandbox'] if os.geteuid() == 0 else []
        its_in, self.to_it = os.pipe()
        self.from_it, its_out = os.pipe()
        with open(os.path.join(self.folder, 'said'), 'wb') as said:
            self.process = subprocess.Popen(
                # it reads from 3 and writes to 4
                ['/bin/bash', '-c', f'exec "$@" 3<&{its_in} 4>&{its_out}', 'bash', BINARY, *flags],
                start_new_session=True, pass_fds=(its_in, its_out), stdin=subprocess.DEVNULL,
                stdout=said, stderr=said, env={
                    'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': self.folder})
        os.close(its_in)
        os.close(its_out)
        self.call('Browser.getVersion')
        return self

    def stop(self):
        if self.process is None:
            return
        process, self.process = self.process, None
        try:
            self._send('Browser.close', {}, None)
            process.wait(STOP_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        os.close(self.to_it)
        os.close(self.from_it)
        assert process.returncode == 0, f'Chromium: {process.returncode}\n{self.log()}'

    def _send(self, method, params, session):
        number = next(self.numbers)
        message = {'id': number, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to_it, data):]
        return number

    def _message(self, end):
        """The next one, before a point in time."""
        while b'\0' not in self.read:
            ready, _, _ = select.select([self.from_it], [], [], max(0, end - time.monotonic()))
            assert ready, f'nothing came from Chromium within {SECONDS} s:\n{self.log()}'
            data = os.read(self.from_it, 1 << 20)
            assert data, f'Chromium went away:\n{self.log()}'
            self.read += data
        message, self.read = self.read.split(b'\0', 1)
        return json.loads(message)

    def _step(self, end):
        message = self._message(end)
        page = self.pages.get(message.get('sessionId'))
        if page and 'method' in message:
            page.note(message['method'], message['params'])
        return message

    def call(self, method, session=None, **params):
        """The result of a command; events that come before it are noted."""
        number, end = self._send(method, params, session), time.monotonic() + SECONDS
        while True:
            message = self._step(end)
            if message.get('id') == number:
                assert 'error' not in message, f'{method}: {message["error"]}'
                return message['result']

    def until(self, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            self._step(end)

    def page(self):
        """A page of a visitor who has been nowhere: with a cache of its own."""
        context = self.call('Target.createBrowserContext')['browserContextId']
        target = self.call('Target.createTarget', url='about:blank',
                           browserContextId=context)['targetId']
        session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        page = self.pages[session] = Page(self, session, context)
        for domain in ('Page', 'Network', 'Log', 'Runtime'):
            page.call(f'{domain}.enable')
        return page


@dataclass
class Exchange:
    """A request that a page made, and what came for it."""
    name: str  # Chromium's own
    url: str = ''
    asked: dict = field(default_factory=dict)  # headers as sent, lower-case names
    status: int = 0  # as it came: 304, where the page sees a 200 from the cache
    headers: dict = field(default_factory=dict)  # as they came
    protocol: str = ''
    from_cache: bool = False  # nothing was asked at all
    length: int = 0  # bytes that came, headers included
    done: bool = False
    failure: str = ''

    @property
    def complete(self):
        """What came on the wire is told in events of its own, which may come behind."""
        return self.done and bool(self.from_cache or self.failure or self.status and self.asked)


def lower(headers):
    return {name.lower(): value for name, value in headers.items()}


class Page:
    def __init__(self, browser, session, context):
        self.browser, self.session, self.context = browser, session, context
        self.exchanges = {}  # by Chromium's name of the request
        self.errors = []  # of the console, of scripts and of loading
        self.arrived = self.loaded = False

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call('Target.disposeBrowserContext', browserContextId=self.context)
        del self.browser.pages[self.session]

    def note(self, method, event):
        handler = getattr(self, 'on_' + method.replace('.', '_'), None)
        if handler:
            handler(event)

    def _of(self, event):
        return self.exchanges.setdefault(event['requestId'], Exchange(event['requestId']))

    def on_Network_requestWillBeSent(self, event):
        self._of(event).url = event['request']['url']

    def on_Network_requestWillBeSentExtraInfo(self, event):
        self._of(event).asked = lower(event['headers'])

    def on_Network_responseReceivedExtraInfo(self, event):
        exchange = self._of(event)
        exchange.status, exchange.headers = event['statusCode'], lower(event['headers'])

    def on_Network_requestServedFromCache(self, event):
        self._of(event).from_cache = True

    def on_Network_responseReceived(self, event):
        self._of(event).protocol = event['response'].get('protocol', '')

    def on_Network_loadingFinished(self, event):
        exchange = self._of(event)
        exchange.length, exchange.done = event['encodedDataLength'], True

    def on_Network_loadingFailed(self, event):
        exchange = self._of(event)
        exchange.failure, exchange.done = event['errorText'], True
        self.errors.append(f'{exchange.url}: {exchange.failure}')

    def on_Log_entryAdded(self, event):
        if event['entry']['level'] in ('error', 'warning'):
            self.errors.append(f'{event["entry"]["level"]}: {event["entry"]["text"]}')

    def on_Runtime_consoleAPICalled(self, event):
        if event['type'] in ('error', 'warning', 'assert'):
            self.errors.append(f'{event["type"]}: {event["args"]}')

    def on_Runtime_exceptionThrown(self, event):
        self.errors.append(f'exception: {event["exceptionDetails"]}')

    def on_Page_frameNavigated(self, _event):
        self.arrived = True

    def on_Page_loadEventFired(self, _event):
        self.loaded = self.arrived  # or it is that of the page before

    def _visit(self, method, **params):
        """What the page says that it has seen, once it and its parts have come."""
        self.exchanges = {}
        self.arrived = self.loaded = False
        self.call(method, **params)
        self.browser.until(lambda: self.loaded)
        value = self.evaluate('window.seen')
        self.browser.until(lambda: all(exchange.complete for exchange in self.network()))
        return value

    def network(self):
        return [e for e in self.exchanges.values() if not e.url.startswith('data:')]

    def body(self, exchange):
        """The bytes that the page got, decoded."""
        found = self.call('Network.getResponseBody', requestId=exchange.name)
        if found['base64Encoded']:
            return base64.b64decode(found['body'])
        return found['body'].encode()

    def visit(self, url):
        return self._visit('Page.navigate', url=url)

    def reload(self):
        """As with the button of the browser."""
        return self._visit('Page.reload')

    def evaluate(self, expression):
        """The value of a promise or another expression."""
        done = self.call('Runtime.evaluate', expression=expression, awaitPromise=True,
                         returnByValue=True)
        assert 'exceptionDetails' not in done, done
        return done['result'].get('value')
