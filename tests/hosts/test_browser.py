# SPDX-License-Identifier: MIT
"""A browser loads a page and all its parts, decodes what is coded, and gets 304s when it reloads
the page: Chromium of Debian's packages, over HTTP/1.1 and over TLS and HTTP/2."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

import pytest
from chromium import Chromium
from sites import Scope

pytestmark = pytest.mark.browser

CODED = ('index.html', 'style.css', 'script.js', 'data.json', 'drawing.svg')
AS_THEY_ARE = ('face.woff2', 'picture.jpg')
ACCEPTED = 'gzip, deflate, br, zstd'  # what the browser asks of 127.0.0.1, without TLS too
CODINGS = {'/web/': 'zstd', '/web-br/': 'br'}  # by the start of the path; the first is the default
FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf'
PROTOCOLS = {'http': 'http/1.1', 'https': 'h2'}

HTML = '''<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Terms</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<script src="script.js" defer></script>
<h1 class="c7">Terms</h1>
<img id="drawing" src="drawing.svg" alt=""><img id="picture" src="picture.jpg" alt="">
<pre>%s</pre></html>
'''
CSS = '@font-face { font-family: Tested; src: url(face.woff2) format("woff2") }\n' \
      'body { font-family: Tested }\n'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80">%s</svg>\n'
SCRIPT = '''const terms = %s;
window.seen = (async () => {
    await new Promise((done) => addEventListener("load", done));
    const answer = await fetch("data.json");
    const size = (id) => [document.getElementById(id).naturalWidth,
                          document.getElementById(id).naturalHeight];
    await document.fonts.ready;
    return {
        terms: terms.length,
        json: (await answer.json()).lines.length,
        margin: getComputedStyle(document.querySelector("h1")).marginTop,
        fonts: Array.from(document.fonts, (face) => face.family + " " + face.status),
        drawing: size("drawing"),
        picture: size("picture"),
    };
})();
'''
SEEN = {'terms': 20000, 'json': 300, 'margin': '7px', 'fonts': ['Tested loaded'],
        'drawing': [120, 80], 'picture': [200, 120]}


def painted(browser):
    """A JPEG, as the browser itself makes one of what it shows."""
    page = browser.page()
    page.visit('data:text/html,<body style="background: linear-gradient(red, blue)">')
    shot = page.call('Page.captureScreenshot', format='jpeg', clip={
        'x': 0, 'y': 0, 'width': 200, 'height': 120, 'scale': 1})
    page.close()
    return base64.b64decode(shot['data'])


def packed_font(folder):
    """A font of the system as servers have them: WOFF2."""
    source = shutil.copy(FONT, folder)
    subprocess.run(['woff2_compress', source], check=True, capture_output=True, timeout=60)
    with open(os.path.splitext(source)[0] + '.woff2', 'rb') as file:
        return file.read()


def drawing():
    return SVG % ''.join(f'<rect x="{n % 120}" y="{n % 80}" width="9" height="9"/>\n'
                         for n in range(300))


@pytest.fixture(scope='session')
def browser(workshop, certificate):
    chromium = Chromium(tempfile.mkdtemp(prefix='chromium-', dir=workshop), certificate[0])
    try:
        yield chromium.start()
    finally:
        chromium.stop()


@pytest.fixture(scope='session')
def parts(browser, files, workshop):
    """{name: bytes} of the page and its parts, in the folders of the site."""
    text = files.text[:20000].decode('ascii')
    lines = json.dumps({'lines': text.splitlines()[:300]})
    escaped = text.replace('&', '&amp;').replace('<', '&lt;')
    found = {
        'index.html': (HTML % escaped).encode(),
        'style.css': CSS.encode() + files.contents['style.css'],
        'script.js': (SCRIPT % json.dumps(text)).encode(),
        'data.json': lines.encode(),
        'drawing.svg': drawing().encode(),
        'face.woff2': packed_font(tempfile.mkdtemp(dir=workshop)),
        'picture.jpg': painted(browser),
    }
    for folder in CODINGS:
        for name, data in found.items():
            files.add(folder[1:] + name, data)
    return found


@pytest.fixture
def server(launch, site, certificate, parts):
    always_asked = {'Cache-Control': 'no-cache'}
    assert parts
    return launch(site.but(tls=certificate, scopes=(
        Scope('/web/', headers=always_asked),
        Scope('/web-br/', headers=always_asked, params={'codings': 'br, gzip'}))))


@pytest.fixture(params=PROTOCOLS)
def scheme(request):
    return request.param


@pytest.fixture(params=CODINGS, ids=CODINGS.values())
def folder(request):
    return request.param


@pytest.fixture
def page(browser):
    page = browser.page()
    yield page
    page.close()


@pytest.fixture
def base(server, scheme, folder):
    port = server.tls_port if scheme == 'https' else server.port
    return f'{scheme}://127.0.0.1:{port}{folder}'


def exchanges(page, base):
    """{name: Exchange} of the last load: of each part one, and of nothing else."""
    found = {exchange.url.removeprefix(base): exchange for exchange in page.network()}
    assert sorted(found) == sorted(CODED + AS_THEY_ARE)
    assert len(found) == len(page.network())
    return found


def check_coded(exchange, coding, plain):
    assert exchange.headers.get('content-encoding') == coding
    assert exchange.headers.get('vary') == 'Accept-Encoding'
    assert exchange.headers['etag'].startswith('W/"')
    assert exchange.length < len(plain)


def check_as_it_is(exchange, plain):
    assert not exchange.headers.keys() & {'content-encoding', 'vary'}
    assert exchange.headers['etag'].startswith('"')
    assert exchange.length >= len(plain)


def test_a_page_loads_with_its_parts(server, page, base, scheme, folder, parts):
    assert page.visit(base + 'index.html') == SEEN
    assert page.errors == []
    for name, exchange in exchanges(page, base).items():
        assert (exchange.status, exchange.protocol) == (200, PROTOCOLS[scheme])
        assert exchange.asked['accept-encoding'] == ACCEPTED
        if name in CODED:
            check_coded(exchange, CODINGS[folder], parts[name])
        else:
            check_as_it_is(exchange, parts[name])
        assert page.body(exchange) == parts[name]
        entry = server.wait_entry(folder + name)
        assert entry.coding == (CODINGS[folder] if name in CODED else 'identity')


def test_a_reload_revalidates(server, page, base, folder):
    assert page.visit(base + 'index.html') == SEEN
    before = exchanges(page, base)
    assert page.reload() == SEEN
    assert page.errors == []
    for name, exchange in exchanges(page, base).items():
        assert exchange.asked['if-none-match'] == before[name].headers['etag']
        assert (name, exchange.status) == (name, 304)
        for header in ('etag', 'vary'):
            assert exchange.headers.get(header) == before[name].headers.get(header)
        assert 'content-encoding' not in exchange.headers
        assert [e.status for e in server.wait_entries(folder + name, 2)] == [200, 304]
