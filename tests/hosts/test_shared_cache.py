# SPDX-License-Identifier: MIT
"""Behind a shared cache: Varnish keeps what the server answers by its Vary, gives each client a
coding that it accepts, and asks by the entity tags that it was given whether they still hold."""
import itertools
import tempfile
from dataclasses import dataclass

import pytest
from origins import Validating
from sites import Scope
from varnish import Varnish, from_cache

pytestmark = pytest.mark.cache

CODINGS = {'br': 'br', 'gzip': 'gzip', 'nothing': None}  # what a client accepts, and gets
ORDERS = list(itertools.permutations(CODINGS))
KEPT = 'public, max-age=3600'
HTML = ('Content-Type', 'text/html')
SOURCES = {'file': '/kept/page.html', 'origin': '/origin/page'}

each_order = pytest.mark.parametrize('order', ORDERS, ids='-'.join)
each_source = pytest.mark.parametrize('source', SOURCES)


def needing(source, coding, *values):
    """A case that asks by a tag that it was given: that of a coded file is weak."""
    weak = source == 'file' and coding
    return pytest.param(*values, marks=pytest.mark.needs('weak-conditions') if weak else ())


@dataclass
class Chain:
    """A cache, the server behind it, and the origin behind that."""
    cache: Varnish
    server: object
    origin: Validating
    files: object

    def ask(self, target, name, more=()):
        field = CODINGS[name]
        headers = [('Accept-Encoding', field)] if field else []
        return self.cache.get(target, headers + list(more))

    def plain(self, target):
        path = target.split('?')[0]
        if path in self.origin.replies:
            return self.origin.replies[path].body
        return self.files.contents[path[1:]]

    def right(self, target, name, more=()):
        """A client's whole answer, in the coding that it accepts."""
        answer = self.ask(target, name, more)
        assert (answer.status, answer.coding) == (200, CODINGS[name])
        assert answer.plain == self.plain(target)
        assert answer.vary == ['accept-encoding']
        return answer

    def fill(self, target, order):
        """Each client asks for what the cache has not got for it yet."""
        answers = {name: self.right(target, name) for name in order}
        assert not any(map(from_cache, answers.values()))
        return answers

    def entries(self, target, count):
        """(status, coding) of what the server was asked."""
        return [(entry.status, entry.coding if entry.status == 200 else None)
                for entry in self.server.wait_entries(target, count)]


def fetched(order):
    return [(200, CODINGS[name] or 'identity') for name in order]


@pytest.fixture(scope='module')
def validating():
    origin = Validating()
    yield origin
    origin.close()


@pytest.fixture(scope='module')
def chain(launch_shared, site, files, validating, workshop):
    for name in ('page.html', 'picture.jpg'):
        files.add(f'kept/{name}', files.contents[name])
    validating.on('/origin/page', files.text[:30000],
                  headers=[HTML, ('ETag', '"one"'), ('Cache-Control', KEPT)])
    server = launch_shared(site.but(scopes=(
        Scope('/kept/', headers={'Cache-Control': KEPT}),
        Scope('/origin/', origin=validating.port))))
    cache = Varnish(tempfile.mkdtemp(prefix='varnish-', dir=workshop), server.port)
    try:
        yield Chain(cache.start(), server, validating, files)
    finally:
        cache.stop()


@each_order
@each_source
def test_each_gets_what_it_accepts(chain, source, order):
    """Fresh from the server, then from the cache; the server is asked once for each coding."""
    target = f'{SOURCES[source]}?{"-".join(order)}'
    fresh = chain.fill(target, order)
    for name in order + order[::-1]:
        again = chain.right(target, name)
        assert from_cache(again) and again.body == fresh[name].body
        assert again.header('etag') == fresh[name].header('etag')
    assert chain.entries(target, len(order)) == fetched(order)


@each_order
@pytest.mark.parametrize('source', [
    needing(source, 'some', source) for source in SOURCES])
def test_a_stale_one_is_revalidated(chain, source, order):
    """The server says 304, and the cache goes on with the body that it has."""
    target = f'{SOURCES[source]}?stale-{"-".join(order)}'
    fresh = chain.fill(target, order)
    chain.cache.grow_stale(target)
    for name in order:
        again = chain.right(target, name)
        assert again.body == fresh[name].body
        assert again.header('etag') == fresh[name].header('etag')
    assert chain.entries(target, 2 * len(order)) == fetched(order) + [(304, None)] * len(order)
    for name in order:
        assert from_cache(chain.right(target, name)), 'it holds again'


@pytest.mark.parametrize('source, name', [
    needing(source, CODINGS[name], source, name) for source in SOURCES for name in CODINGS])
def test_a_client_that_has_it_gets_no_body(chain, source, name):
    """304 from the cache alone, and from the server through the cache."""
    target = f'{SOURCES[source]}?has-it-{name}'
    fresh = chain.fill(target, [name])[name]
    has_it = [('If-None-Match', fresh.header('etag'))]
    for asked in (1, 2):
        answer = chain.ask(target, name, has_it)
        assert (answer.status, answer.body) == (304, b'')
        assert answer.header('etag') == fresh.header('etag')
        assert answer.vary == fresh.vary
        assert [status for status, _ in chain.entries(target, asked)] == [200, 304][:asked]
        chain.cache.grow_stale(target)


@pytest.mark.parametrize('name', CODINGS)
def test_one_that_has_changed_comes_anew(chain, files, name):
    headers = [HTML, ('Cache-Control', KEPT)]
    target = chain.origin.on(f'/origin/changes-{name}', files.text[:20000],
                             headers=headers + [('ETag', '"before"')])
    before = chain.fill(target, [name])[name]
    chain.origin.on(target, files.text[5000:40000], headers=headers + [('ETag', '"after"')])
    chain.cache.grow_stale(target)
    assert chain.right(target, name).header('etag') != before.header('etag')
    assert chain.entries(target, 2) == fetched([name, name])


def test_what_is_never_coded_is_kept_once_for_all(chain):
    """A JPEG has no Vary: whoever asks first fetches it for the others."""
    target = '/kept/picture.jpg'
    answers = [chain.ask(target, name) for name in CODINGS]
    assert [from_cache(answer) for answer in answers] == [False, True, True]
    for answer in answers:
        assert (answer.coding, answer.plain, answer.vary) == (None, chain.plain(target), [])
    assert chain.entries(target, 1) == fetched(['nothing'])


@each_order
def test_what_must_not_be_kept_is_fetched_each_time(chain, files, order):
    target = chain.origin.on(f'/origin/private-{"-".join(order)}', files.text[:20000],
                             headers=[HTML, ('ETag', '"own"'), ('Cache-Control', 'private')])
    for name in order + order:
        assert not from_cache(chain.right(target, name))
    assert chain.entries(target, 2 * len(order)) == fetched(order + order)
