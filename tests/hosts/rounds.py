# SPDX-License-Identifier: MIT
"""Sources whose responses have a tag, under each way of the setting etag: for cases of conditional
requests."""
import re

import client
from origins import Origin, Reply, Validating, opaque
from rules import PAGE, SUFFIXED, serial
from sites import Scope

MODES = ('weaken', 'suffix', 'drop', 'keep', 'skip')
# who answers: a file; a script that compares nothing; an application that compares nothing, or
# If-None-Match, or ranges
SOURCES = ('static', 'generated', 'proxied', 'validating')
TAG = '"v1"'
BR, GZIP, NONE = ([('Accept-Encoding', 'br')], [('Accept-Encoding', 'gzip')], [])

HEAD = f'''Content-Type: text/html\r
ETag: {TAG}\r
Content-Length: {len(PAGE)}\r
\r
'''
# If-Match by the strong comparison (RFC 9110 section 8.8.3.2)
SCRIPT = '''#!/bin/sh
case ",$HTTP_IF_MATCH," in
",," | ",*," | *',"v1",'* | *', "v1",'*) answer=whole ;;
*) printf 'Status: 412\\r\\nContent-Type: text/plain\\r\\nContent-Length: 0\\r\\n\\r\\n' && exit ;;
esac
cd "${SCRIPT_FILENAME%/*}" || exit
[ "$REQUEST_METHOD" = HEAD ] && answer=head
exec cat "$answer"
'''


def modes_over(modes, of_h2=('suffix',)):
    """For parametrize('mode, protocol', ...): each over HTTP/1, some over HTTP/2 as well."""
    return [(mode, 'h1') for mode in modes] + [(mode, 'h2') for mode in of_h2]


class Strict(Origin):
    """Compares If-Match (RFC 9110 section 13.1.1)."""

    def reply_to(self, path, headers):
        wanted = [tag.strip() for tag in headers.get('if-match', '*').split(',')]
        if TAG in wanted or '*' in wanted:
            return super().reply_to(path, headers)
        return Reply(status=412, headers=[('X-Nothing', 'here')])


class Ranging(Origin):
    """Sends a part that is asked for, if If-Range lets it."""

    def reply_to(self, path, headers):
        reply = super().reply_to(path, headers)
        found = re.fullmatch(r'bytes=(\d+)-(\d+)', headers.get('range', ''))
        if not found or headers.get('if-range', TAG) != TAG:
            return reply
        first, last = map(int, found.groups())
        return Reply(reply.body[first:last + 1], 206, [
            *reply.headers, ('Content-Range', f'bytes {first}-{last}/{len(reply.body)}')])


class Rounds:
    """The site of it."""
    APPLICATIONS = {'proxied': Origin, 'validating': Validating, 'strict': Strict,
                    'ranging': Ranging}

    def __init__(self, files):
        self.applications = {name: kind() for name, kind in self.APPLICATIONS.items()}
        for mode in MODES:
            self._put_up(files, f'rounds/{mode}')

    def _put_up(self, files, folder):
        files.add(f'{folder}/page.html', PAGE)
        files.add(f'{folder}/whole', HEAD.encode() + PAGE)
        files.add(f'{folder}/head', HEAD.encode())
        files.add_script(f'{folder}/say.cgi', SCRIPT)
        for name, application in self.applications.items():
            application.on(f'/{folder}/{name}/page', PAGE,
                           headers=[('Content-Type', 'text/html'), ('ETag', TAG)])

    def scopes(self):
        return tuple(
            Scope(f'/rounds/{mode}/', params={'etag': mode}, scripts=True, scopes=tuple(
                Scope(f'/rounds/{mode}/{name}/', origin=application.port)
                for name, application in self.applications.items()))
            for mode in MODES)

    def close(self):
        for application in self.applications.values():
            application.close()

    @staticmethod
    def target(mode, source):
        """That no other request has."""
        name = {'static': 'page.html', 'generated': 'say.cgi'}.get(source, f'{source}/page')
        return f'/rounds/{mode}/{name}?{next(serial)}'

    def seen(self, target):
        """The fields that the application got."""
        name = target.split('/')[3]
        found = [headers for path, headers in self.applications[name].seen if path == target]
        assert len(found) == 1, found
        return found[0]


class Visit:
    """Requests for one response, over one protocol."""
    known = {}

    def __init__(self, server, mode, source, protocol='h1'):
        self.server, self.mode, self.source = server, mode, source
        self.fetch = client.PROTOCOLS[protocol]

    def get(self, accept, *fields, method='GET', fetch=None, **kwargs):
        self.target = Rounds.target(self.mode, self.source)
        return (fetch or self.fetch)(self.server.port, self.target, accept + list(fields),
                                     method=method, **kwargs)

    def tags(self):
        """(of the identity, of what is coded with br); they are asked for once."""
        key = self.server.port, self.mode, self.source
        if key not in self.known:
            self.known[key] = self._ask_for_tags()
        return self.known[key]

    def _ask_for_tags(self):
        plain, coded = (self.get(accept, fetch=client.h1) for accept in (NONE, BR))
        assert (plain.coding, plain.body) == (None, PAGE)
        assert (coded.coding, coded.plain) == ('br' if self.mode != 'skip' else None, PAGE)
        tag = plain.header('etag')
        assert tag.startswith('"') and (self.source == 'static' or tag == TAG)
        assert plain.vary == coded.vary == ['accept-encoding']
        return tag, coded.header('etag')


def expected_tag(mode, plain, tag, coding='br'):
    """Whether this is a tag of the coded representation."""
    if mode == 'suffix':
        found = re.fullmatch(re.escape(plain[:-1]) + SUFFIXED, tag)
        return bool(found) and found[1] == coding
    return tag == {'weaken': f'W/{plain}', 'drop': None}.get(mode, plain)


def is_304(answer, tag):
    """With the fields of the 200 that it stands for."""
    assert (answer.status, answer.body, answer.coding) == (304, b'', None), answer
    assert answer.all('vary') == ['Accept-Encoding'], answer
    assert answer.header('etag') == tag, answer
    return True


def is_whole(answer, coding, tag=None):
    assert (answer.status, answer.coding) == (200, coding), answer
    assert answer.plain == PAGE
    assert answer.all('vary') == ['Accept-Encoding'], answer
    assert tag is None or answer.header('etag') == tag, answer
    return True


def same_weakly(one, other):
    return opaque(one) == opaque(other)
