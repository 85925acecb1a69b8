# SPDX-License-Identifier: MIT
"""Encoders and decoders of other projects.  decode() takes exactly one whole coded body."""
import gzip
import zlib

import brotli
import zstandard


def _zlib(data, bits):
    decoder = zlib.decompressobj(bits)
    out = decoder.decompress(data)
    assert decoder.eof and not decoder.unused_data
    return out


def _zstd(data):
    decoder = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
    out = decoder.decompress(data)
    assert not decoder.unused_data
    return out


DECODE = {
    'gzip': lambda data: _zlib(data, 31),
    'deflate': lambda data: _zlib(data, 15),
    'br': brotli.decompress,
    'zstd': _zstd,
}
ENCODE = {
    'gzip': gzip.compress,
    'deflate': zlib.compress,
    'br': brotli.compress,
    'zstd': lambda data: zstandard.ZstdCompressor().compress(data),
}
