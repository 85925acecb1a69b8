# SPDX-License-Identifier: MIT
"""The cases of RULES.md: what a source says, what is asked, what leaves.  Each is put up three
times: as a file, as the answer of a script, and as that of an application behind the server's
proxy."""
import re
from dataclasses import dataclass, field
from itertools import count

import client
import pytest
from files import page, prose
from sites import MEDIA_TYPES, Scope

KINDS = ('static', 'generated', 'proxied')
TEXT = prose()
PAGE = page(TEXT, 5000)
EXTENSIONS = {media_type.partition(';')[0]: name for name, media_type in MEDIA_TYPES.items()}

# Where a server has a way of its own, in the words of RULES.md.
ITS_RANGES = {'lighttpd': 'lighttpd adds its own behind Terse, to what is not coded: there is '
                          'nothing to keep.'}
ITS_FIRST_LINE = {'lighttpd': 'lighttpd keeps the first line of If-None-Match only.'}
NO_TRAILERS = dict.fromkeys(('h2o', 'libh2o'), 'H2O 2.2.5 drops trailers itself.')
NO_SUCH_FIELD = dict.fromkeys(('h2o', 'libh2o'), 'H2O refuses to add one to a file')

# Why a case has no file.
ITS_STATUS = 'static', "the server chooses a file's status"
ITS_TAG = 'static', 'the server makes the tag of a file'
ITS_TYPE = 'static', 'the server gives a file a media type'
ITS_LENGTH = 'static', 'the length of a file is known'
ONE_FIELD = 'static', 'a configuration adds one line of a field to a file'
READ_ONLY = 'static', 'the servers only let files be read'

# The answer is a file; its name is the first part of the query.  HEAD gets no body (RFC 3875).
SCRIPT = '''#!/bin/sh
answer=${SCRIPT_FILENAME%/*}/${QUERY_STRING%%&*}
[ "$REQUEST_METHOD" = HEAD ] && exec sed '/^\r$/q' "$answer"
exec cat "$answer"
'''
SUFFIXED = r'-(gzip|br|zstd|deflate)\.[0-9a-f]{4}"'
serial = count(1)


@dataclass(frozen=True)
class Case:
    """coding: None is identity.  tag is what becomes of the ETag: same, weak, suffix, weak suffix,
    none."""
    rule: str
    name: str
    coding: str = None
    reason: str = ''  # '': not looked at
    # the request; each part of `ask` is a line of Accept-Encoding
    ask: tuple = ('br, gzip',)
    params: dict = field(default_factory=dict)
    request: tuple = ()
    method: str = 'GET'
    version: str = 'HTTP/1.1'
    # what the source says
    body: bytes = PAGE
    type: str = 'text/html'
    headers: tuple = ()
    status: int = 200
    framing: str = 'length'
    # what leaves
    sends: int = None  # None: the status of the source
    vary: object = True  # or False, or the lines of it
    has: dict = field(default_factory=dict)  # None: it is absent
    tag: str = ''
    content: bytes = None  # None: the body of the source
    # where
    over: tuple = ('h1',)
    left_out: tuple = ()  # pairs (kind, why)
    lacks: dict = field(default_factory=dict)  # {server: why, a sentence of RULES.md}
    side: str = ''  # '': as its coding is

    @property
    def slug(self):
        return re.sub(r'[^a-z0-9]+', '-', f'{self.rule} {self.name}'.lower()).strip('-')

    @property
    def kinds(self):
        return [kind for kind in KINDS if kind not in dict(self.left_out)]

    @property
    def codes(self):
        return self.side != 'plain' and (self.side == 'coded' or self.coding is not None)

    @property
    def fields(self):
        return [('Accept-Encoding', line) for line in self.ask] + list(self.request)


def listed(cases):
    """For pytest.mark.parametrize('case, kind, over', ...)"""
    return [pytest.param(case, kind, over, id=f'{case.slug}-{kind}-{over}',
                         marks=pytest.mark.rule(case.rule, lacks=case.lacks))
            for case in cases for kind in case.kinds for over in case.over]


# ---- putting it up -------------------------------------------------------------------------------

class Stage:
    """A part of the site by the name of `root`; each set of parameters has a folder in it."""

    def __init__(self, root, cases, files, origin):
        self.root, self.files, self.origin = root, files, origin
        self.sets, self.fields, self.targets = [], [], {}
        assert len({case.slug for case in cases}) == len(cases), 'two cases of one name'
        for case in cases:
            for kind in case.kinds:
                self.targets[case.slug, kind] = getattr(self, f'_{kind}')(case)

    def _folder(self, params):
        if params not in self.sets:
            self.sets.append(params)
            folder = f'{self.root}/{self.sets.index(params)}'
            self.files.add_script(f'{folder}/say.cgi', SCRIPT)
        return f'{self.root}/{self.sets.index(params)}'

    def _static(self, case):
        assert case.status == 200 and case.method in ('GET', 'HEAD') and len(case.headers) < 2, case
        folder = self._folder(case.params)
        if case.headers:
            place = case.params, dict(case.headers)
            if place not in self.fields:
                self.fields.append(place)
            folder += f'/{self.fields.index(place)}'
        name = f'{folder}/{case.slug}{EXTENSIONS[case.type]}'
        self.files.add(name, case.body)
        return f'/{name}?'

    def _generated(self, case):
        folder = self._folder(case.params)
        lines = [f'Status: {case.status}', *(f'{name}: {value}' for name, value in head(case))]
        if case.framing == 'length':
            lines.append(f'Content-Length: {len(case.body)}')
        self.files.add(f'{folder}/{case.slug}',
                       '\r\n'.join(lines + ['', '']).encode('latin-1') + case.body)
        return f'/{folder}/say.cgi?{case.slug}&'

    def _proxied(self, case):
        path = f'/{self._folder(case.params)}/proxied/{case.slug}'
        self.origin.on(path, case.body, case.status, head(case), case.framing)
        return f'{path}?'

    def scopes(self):
        """Of the site."""
        found = []
        for n, params in enumerate(self.sets):
            url = f'/{self.root}/{n}/'
            with_field = [Scope(f'{url}{at}/', headers=added)
                          for at, (of, added) in enumerate(self.fields) if of == params]
            found.append(Scope(url, params=params, scripts=True, scopes=(
                Scope(f'{url}proxied/', origin=self.origin.port), *with_field)))
        return tuple(found)

    def target(self, case, kind):
        """That no other request has."""
        return f'{self.targets[case.slug, kind]}{next(serial)}'


def head(case):
    return ([('Content-Type', case.type)] if case.type else []) + list(case.headers)


# ---- asking, and looking at what comes -----------------------------------------------------------

def ask(server, case, target, over, headers=None, **kwargs):
    kwargs.setdefault('method', case.method)
    if kwargs['method'] in ('PUT', 'POST', 'PATCH'):
        kwargs['body'] = b'something=new'
    if case.version != 'HTTP/1.1':
        kwargs['version'] = case.version
    return client.PROTOCOLS[over](server.port, target, case.fields if headers is None else headers,
                                  **kwargs)


def tag_of(server, stage, case, kind):
    """The one of the identity."""
    given = [value for name, value in case.headers if name == 'ETag']
    if kind != 'static':
        return given[0] if given else None
    return client.h1(server.port, stage.target(case, kind)).header('etag')


def tag_fits(how, plain, tag, coding):
    if how == 'same':
        return tag == plain is not None
    if how == 'none':
        return tag is None
    if how == 'weak':
        return tag == f'W/{plain}'
    weak = 'W/' if how == 'weak suffix' else ''
    found = re.fullmatch(f'{weak}{re.escape(plain[:-1])}{SUFFIXED}', tag or '')
    return found is not None and found[1] == coding


def check_fields(case, answer):
    """What a source said of its response stays, but for what rules speak of."""
    spoken_of = {'vary', 'etag', 'x-compress-hint', 'content-type', 'content-encoding'}
    spoken_of |= {name.lower() for name in case.has}
    for name in {name for name, _ in case.headers} - {None}:
        if name.lower() not in spoken_of:
            assert answer.all(name.lower()) == [v for n, v in case.headers if n == name], name
    for name, value in case.has.items():
        assert answer.header(name.lower()) == value, (name, answer)


def check_vary(case, answer):
    if isinstance(case.vary, bool):
        assert answer.all('vary') == (['Accept-Encoding'] if case.vary else []), answer
    else:
        assert answer.all('vary') == list(case.vary), answer


def check_body(case, answer):
    body = case.body if case.content is None else case.content
    if case.method == 'HEAD' or answer.status in (204, 205, 304):
        assert answer.body == b''
    elif case.coding:
        assert answer.plain == body
    else:
        assert answer.body == body


def check(case, answer):
    assert answer.status == (case.sends or case.status), answer
    if 'Content-Encoding' not in dict(case.headers) or case.coding:
        assert answer.coding == case.coding, answer
    check_vary(case, answer)
    check_fields(case, answer)
    check_body(case, answer)


def check_log(server, case, target):
    if case.reason:
        entry = server.wait_entry(target)
        assert (entry.coding, entry.reason) == (case.coding or 'identity', case.reason)


def run(server, stage, case, kind, over):
    """The whole of a case."""
    target = stage.target(case, kind)
    answer = ask(server, case, target, over)
    check(case, answer)
    if case.tag:
        plain = tag_of(server, stage, case, kind)
        assert tag_fits(case.tag, plain, answer.header('etag'), case.coding), (plain, answer)
    check_log(server, case, target)
    return answer
