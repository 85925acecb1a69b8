# SPDX-License-Identifier: MIT
"""Encoders of other people, for bodies that come coded."""
import gzip
import zlib

import brotli
import zstandard

CODERS = {
    'gzip': lambda data: gzip.compress(data, 6, mtime=0),
    'deflate': zlib.compress,
    'br': lambda data: brotli.compress(data, quality=4),
    'zstd': lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def coded(data, codings):
    """As Content-Encoding lists them: the last one was applied last."""
    for coding in codings.split(', '):
        data = CODERS[coding](data)
    return data
