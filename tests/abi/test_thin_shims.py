# SPDX-License-Identifier: MIT
"""A shim knows its server and nothing of HTTP content coding: its sources name no coding, no media
type and no header field, but for what is allowed here, each with the reason."""
import glob
import os
import re

import pytest

HOSTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'hosts')
SHIMS = ('h2o', 'lighttpd')

CODING = r'(?<![\w-])(?:x-)?(?:gzip|deflate|compress|br|brotli|zstd|bzip2|xz|dcb|dcz)(?![\w-])'
MEDIA_TYPE = r'\b(?:text|application|image|font|audio|video|multipart|message|model)/[\w.+*-]+'
FIELD = (r'\b(?:accept|alt|cache|content|if|last|proxy|sec|te|trailer|transfer|x)-[a-z][a-z-]*\b'
         r'|\b(?:age|connection|date|digest|etag|expires|pragma|range|upgrade|vary|via)\b')
ENUMERATOR = r'\bHTTP_HEADER_[A-Z_]+\b|\bH2O_TOKEN_[A-Z_]+\b'
CODEC = r'\b(?:zlib|libdeflate|zstd|zstd_errors|brotli/\w+)\.h\b'

FRAMING = 'framing: the length is known, or not'
ALLOWED = {
    ('h2o', 'configurator.c', 'compress'): "the stock module's command, which may be on as well",
    ('h2o', 'configurator.c', 'gzip'): 'the older name of that command',
    ('h2o', 'headers.c', 'x-compress-hint'): 'H2O swallows it; it is given back to the plugin',
    ('h2o', 'headers.c', 'content-type'): "H2O's 304 of a file has none; the type is H2O's own",
    ('lighttpd', 'facts.c', 'content-length'): FRAMING,
    ('lighttpd', 'facts.c', 'http_header_content_length'): FRAMING,
    ('lighttpd', 'facts.c', 'http_header_transfer_encoding'): FRAMING,
    ('lighttpd', 'headers.c', 'content-length'): FRAMING,
    ('lighttpd', 'headers.c', 'http_header_content_length'): FRAMING,
    ('lighttpd', 'request.c', 'content-length'): FRAMING,
    ('lighttpd', 'request.c', 'http_header_content_length'): FRAMING,
    ('lighttpd', 'source.c', 'http_header_upgrade'): 'what is no HTTP any more is not looked into',
    ('lighttpd', 'source.c', 'http_header_expect'): 'the server would answer it amid a response',
    ('lighttpd', 'notes.c', 'deflate'): "the stock module's name, which may be loaded as well",
}


def sources(shim):
    for path in sorted(glob.glob(os.path.join(HOSTS, shim, '*.[ch]'))):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        yield os.path.basename(path), re.sub(r'//[^\n]*|/\*.*?\*/', ' ', text, flags=re.S)


def literals(code):
    return re.findall(r'"(?:\\.|[^"\\\n])*"', code)


def named(shim):
    """{(shim, file, word)}: what its sources name."""
    found = set()
    for file, code in sources(shim):
        words = [word for text in literals(code) for pattern in (CODING, MEDIA_TYPE, FIELD)
                 for word in re.findall(pattern, text, re.I)]
        words += re.findall(ENUMERATOR, code) + re.findall(CODEC, code)
        found |= {(shim, file, word.lower()) for word in words}
    return found


@pytest.mark.parametrize('shim', SHIMS)
def test_names_only_what_is_allowed(shim):
    found = named(shim)
    assert sorted(found - set(ALLOWED)) == []
    assert found, 'the shims name a few words at least'


@pytest.mark.parametrize('shim', SHIMS)
def test_nothing_is_allowed_that_is_not_there(shim):
    allowed = {entry for entry in ALLOWED if entry[0] == shim}
    assert sorted(allowed - named(shim)) == []
