# SPDX-License-Identifier: MIT
"""Decoders of other projects, each strict: a coded body must be whole and nothing may follow it."""
import zlib

import brotli
import zstandard

ZSTD_WINDOW_MAX = 8 << 20  # RFC 9659 section 3


class Undecodable(Exception):
    """Bytes that are not one complete body in the coding that was named."""


def _zlib(data, wbits):
    decoder = zlib.decompressobj(wbits)
    plain = decoder.decompress(data) + decoder.flush()
    if not decoder.eof or decoder.unused_data:
        raise Undecodable('cut short, or bytes follow the end')
    return plain


def _gzip(data):
    return _zlib(data, 31)


def _deflate(data):
    return _zlib(data, 15)


def _br(data):
    decoder = brotli.Decompressor()
    plain = decoder.process(data)
    if not decoder.is_finished():
        raise Undecodable('cut short')
    # the decoder is silent about what follows the end; the one-call form is not
    if brotli.decompress(data) != plain:
        raise Undecodable('two ways of decoding differ')
    return plain


def _zstd(data):
    decoder = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_MAX).decompressobj()
    plain = decoder.decompress(data)
    if not decoder.eof or decoder.unused_data:
        raise Undecodable('cut short, or bytes follow the end')
    return plain


_DECODERS = {'gzip': _gzip, 'deflate': _deflate, 'br': _br, 'zstd': _zstd}


def decode(coding, data):
    """The plain bytes of a body; coding None is identity."""
    if coding is None:
        return data
    if coding not in _DECODERS:
        raise Undecodable(f'unknown content coding {coding!r}')
    try:
        return _DECODERS[coding](data)
    except (zlib.error, brotli.error, zstandard.ZstdError) as error:
        raise Undecodable(f'{coding}: {error}') from error
