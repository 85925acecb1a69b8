# SPDX-License-Identifier: MIT
"""httpx; over TLS it speaks HTTP/2 too."""
import gzip
import hashlib
import sys
import zlib

import httpx

URL, FOLDER = sys.argv[1:]


def kept(ending):
    with open(f'{FOLDER}/plain{ending}', 'rb') as file:
        return file.read()


def digest(answer):
    return hashlib.sha256(answer.content).hexdigest()


session = httpx.Client(http2=URL.startswith('https:'), verify=False, trust_env=False)
for coding, body in (('gzip', gzip.compress(kept(''))), ('deflate', zlib.compress(kept(''))),
                     ('br', kept('.br')), ('zstd', kept('.zst'))):
    answer = session.post(f'{URL}/tell.cgi', content=body, headers={'Content-Encoding': coding})
    print('send', coding, answer.status_code, answer.text.strip())
for what, coding, body in (('bad', 'gzip', kept('')), ('unknown', 'compress', kept('')),
                           ('long', 'gzip', kept('.long'))):
    try:
        answer = session.post(f'{URL}/tell.cgi', content=body, headers={'Content-Encoding': coding})
        print('refused', what, answer.status_code)
    except httpx.TransportError:
        print('refused', what, '000')
answer = session.get(f'{URL}/page.html')
print('receive default', answer.headers.get('content-encoding'), digest(answer))
for coding in ('gzip', 'br'):
    answer = session.get(f'{URL}/page.html', headers={'Accept-Encoding': coding})
    print('receive', coding, answer.headers.get('content-encoding'), digest(answer))
for name in ('gzip', 'br', 'zstd', 'deflate'):
    print('origin', name, digest(session.get(f'{URL}/origin/{name}')))
