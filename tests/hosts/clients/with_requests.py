# SPDX-License-Identifier: MIT
"""requests."""
import gzip
import hashlib
import sys
import zlib

import requests

URL, FOLDER = sys.argv[1:]


def kept(ending):
    with open(f'{FOLDER}/plain{ending}', 'rb') as file:
        return file.read()


def digest(answer):
    return hashlib.sha256(answer.content).hexdigest()


session = requests.Session()
for coding, body in (('gzip', gzip.compress(kept(''))), ('deflate', zlib.compress(kept(''))),
                     ('br', kept('.br')), ('zstd', kept('.zst'))):
    answer = session.post(f'{URL}/tell.cgi', body, headers={'Content-Encoding': coding})
    print('send', coding, answer.status_code, answer.text.strip())
for what, coding, body in (('bad', 'gzip', kept('')), ('unknown', 'compress', kept('')),
                           ('long', 'gzip', kept('.long'))):
    answer = session.post(f'{URL}/tell.cgi', body, headers={'Content-Encoding': coding})
    print('refused', what, answer.status_code)
answer = session.get(f'{URL}/page.html')
print('receive default', answer.headers.get('content-encoding'), digest(answer))
for coding in ('gzip', 'br'):
    answer = session.get(f'{URL}/page.html', headers={'Accept-Encoding': coding})
    print('receive', coding, answer.headers.get('content-encoding'), digest(answer))
for name in ('gzip', 'br', 'zstd', 'deflate'):
    print('origin', name, digest(session.get(f'{URL}/origin/{name}')))
