# SPDX-License-Identifier: MIT
"""Behind a shared cache: Varnish keeps what the server answers by its Vary, gives each client a
coding that it accepts, and asks by the entity tags that it was given whether they still hold."""
import itertools
import tempfile
from dataclasses import dataclass

import pytest
from origins import Validating, opaque
from sites import Scope
from varnish import Varnish, from_cache

pytestmark = pytest.mark.cache

CODINGS = {'br': 'br', 'gzip': 'gzip', 'nothing': None}  # what a client accepts, and gets
ORDERS = list(itertools.permutations(CODINGS))
KEPT = 'public, max-age=3600'
HTML = ('Content-Type', 'text/html')
SOURCES = ('file', 'origin')
# of the setting etag, and how many tags a page then has that three clients got
MODES = {'weaken': 2, 'suffix': 3, 'keep': 1, 'drop': 2}
# without a tag only a file has something else to be asked by, its Last-Modified
ASKED_BY = [(source, mode) for source in SOURCES for mode in MODES
            if (source, mode) != ('origin', 'drop')]

NOT_CODED = ('noise.txt', 'size-299.html')  # but might have been

each_order = pytest.mark.parametrize('order', ORDERS, ids='-'.join)


def place(source, mode='weaken'):
    """The page, from a source, under a setting."""
    return f'/{source}/{mode}/page.html'


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

    def right(self, target, name):
        """A client's whole answer, in the coding that it accepts."""
        answer = self.ask(target, name)
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


def condition(answer):
    """How a client asks whether what it has still holds."""
    tag = answer.header('etag')
    return ('If-None-Match', tag) if tag else ('If-Modified-Since', answer.header('last-modified'))


def fetched(order):
    return [(200, CODINGS[name] or 'identity') for name in order]


@pytest.fixture(scope='module')
def validating():
    origin = Validating()
    yield origin
    origin.close()


def scopes_of(mode, port):
    return (Scope(f'/file/{mode}/', params={'etag': mode}, headers={'Cache-Control': KEPT}),
            Scope(f'/origin/{mode}/', params={'etag': mode}, origin=port))


@pytest.fixture(scope='module')
def chain(launch_shared, site, files, validating, workshop):
    for name in ('picture.jpg', *NOT_CODED):
        files.add(f'file/weaken/{name}', files.contents[name])
    for mode in MODES:
        files.add(place('file', mode)[1:], files.contents['page.html'])
        validating.on(place('origin', mode), files.text[:30000],
                      headers=[HTML, ('ETag', '"one"'), ('Cache-Control', KEPT)])
    server = launch_shared(site.but(scopes=tuple(
        itertools.chain.from_iterable(scopes_of(mode, validating.port) for mode in MODES))))
    cache = Varnish(tempfile.mkdtemp(prefix='varnish-', dir=workshop), server.port)
    try:
        yield Chain(cache.start(), server, validating, files)
    finally:
        cache.stop()


@each_order
@pytest.mark.parametrize('source', SOURCES)
def test_each_gets_what_it_accepts(chain, source, order):
    """Fresh from the server, then from the cache; the server is asked once for each coding."""
    target = f'{place(source)}?{"-".join(order)}'
    fresh = chain.fill(target, order)
    for name in order + order[::-1]:
        again = chain.right(target, name)
        assert from_cache(again) and again.body == fresh[name].body
        assert again.header('etag') == fresh[name].header('etag')
    assert chain.entries(target, len(order)) == fetched(order)


@each_order
@pytest.mark.parametrize('source, mode', ASKED_BY)
def test_a_stale_one_is_revalidated(chain, source, mode, order):
    """The server says 304, and the cache goes on with the body that it has."""
    target = f'{place(source, mode)}?stale-{"-".join(order)}'
    fresh = chain.fill(target, order)
    assert len({answer.header('etag') for answer in fresh.values()}) == MODES[mode]
    chain.cache.grow_stale(target)
    for name in order:
        again = chain.right(target, name)
        assert again.body == fresh[name].body
        assert again.header('etag') == fresh[name].header('etag')
    assert chain.entries(target, 2 * len(order)) == fetched(order) + [(304, None)] * len(order)
    for name in order:
        assert from_cache(chain.right(target, name)), 'it holds again'


@pytest.mark.parametrize('source, mode', ASKED_BY)
@pytest.mark.parametrize('name', CODINGS)
def test_a_client_that_has_it_gets_no_body(chain, source, mode, name):
    """304 from the cache alone, and from the server through the cache."""
    target = f'{place(source, mode)}?has-it-{name}'
    fresh = chain.fill(target, [name])[name]
    for asked in (1, 2):
        answer = chain.ask(target, name, [condition(fresh)])
        assert (answer.status, answer.body) == (304, b'')
        assert answer.header('etag') == fresh.header('etag')
        assert answer.vary == fresh.vary
        assert [status for status, _ in chain.entries(target, asked)] == [200, 304][:asked]
        chain.cache.grow_stale(target)


@pytest.mark.parametrize('name', CODINGS)
def test_one_that_has_changed_comes_anew(chain, files, name):
    headers = [HTML, ('Cache-Control', KEPT)]
    target = chain.origin.on(f'/origin/weaken/changes-{name}', files.text[:20000],
                             headers=headers + [('ETag', '"before"')])
    before = chain.fill(target, [name])[name]
    chain.origin.on(target, files.text[5000:40000], headers=headers + [('ETag', '"after"')])
    chain.cache.grow_stale(target)
    assert chain.right(target, name).header('etag') != before.header('etag')
    assert chain.entries(target, 2) == fetched([name, name])


@pytest.mark.parametrize('name', NOT_CODED)
def test_what_was_not_coded_is_revalidated_too(chain, name):
    """A 304 does not tell how long the body would be and whether it would shrink: its tag is weak
    where that of the 200 is not."""
    target = f'/file/weaken/{name}'
    fresh = chain.ask(target, 'br')
    assert (fresh.coding, fresh.plain) == (None, chain.plain(target))
    chain.cache.grow_stale(target)
    again = chain.ask(target, 'br')
    assert (again.coding, again.body, again.vary) == (None, fresh.body, fresh.vary)
    assert opaque(again.header('etag')) == opaque(fresh.header('etag'))
    assert chain.entries(target, 2) == [(200, 'identity'), (304, None)]


def test_what_is_never_coded_is_kept_once_for_all(chain):
    """A JPEG has no Vary: whoever asks first fetches it for the others."""
    target = '/file/weaken/picture.jpg'
    answers = [chain.ask(target, name) for name in CODINGS]
    assert [from_cache(answer) for answer in answers] == [False, True, True]
    for answer in answers:
        assert (answer.coding, answer.plain, answer.vary) == (None, chain.plain(target), [])
    assert chain.entries(target, 1) == fetched(['nothing'])


@each_order
def test_what_must_not_be_kept_is_fetched_each_time(chain, files, order):
    target = chain.origin.on(f'/origin/weaken/private-{"-".join(order)}', files.text[:20000],
                             headers=[HTML, ('ETag', '"own"'), ('Cache-Control', 'private')])
    for name in order + order:
        assert not from_cache(chain.right(target, name))
    assert chain.entries(target, 2 * len(order)) == fetched(order + order)
