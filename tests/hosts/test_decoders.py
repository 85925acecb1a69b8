# SPDX-License-Identifier: MIT
"""What this suite trusts: its decoders take whole bodies and nothing else."""
import zlib

import brotli
import pytest
import zstandard
from decoders import Undecodable, decode

PLAIN = b'a plain body, of some length; ' * 4000


def gzip(data):
    coder = zlib.compressobj(6, zlib.DEFLATED, 31)
    return coder.compress(data) + coder.flush()


CODED = {
    'gzip': gzip(PLAIN),
    'deflate': zlib.compress(PLAIN),
    'br': brotli.compress(PLAIN),
    'zstd': zstandard.ZstdCompressor().compress(PLAIN),
}


@pytest.mark.parametrize('coding', CODED)
def test_whole(coding):
    assert decode(coding, CODED[coding]) == PLAIN


@pytest.mark.parametrize('coding', CODED)
@pytest.mark.parametrize('harm', [
    lambda body: body[:-1], lambda body: body + b'x', lambda body: body + body,
    lambda body: body[:6], lambda body: b'', lambda body: PLAIN,
    lambda body: body[:20] + bytes([body[20] ^ 0x55]) + body[21:]])
def test_harmed(coding, harm):
    body = harm(CODED[coding])
    with pytest.raises(Undecodable):
        assert decode(coding, body) != PLAIN
        raise Undecodable('other bytes')


def test_windows_that_browsers_refuse():
    """RFC 9659 section 3: 8 MB at most."""
    parameters = zstandard.ZstdCompressionParameters(window_log=24, write_content_size=False)
    coder = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(Undecodable):
        decode('zstd', coder.compress(PLAIN) + coder.flush())


def test_unknown_coding():
    with pytest.raises(Undecodable):
        decode('compress', PLAIN)
