# SPDX-License-Identifier: MIT
"""The same application behind other protocols: FastCGI, SCGI, and a script that a server starts."""
import struct

from origins import Origin

BEGIN_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
# Asks the origin, and hands on what comes as it comes: server/relay.cgi?PORT/PATH
RELAY = '''#!/bin/bash
[ -n "$BASH_VERSION" ] || exec /bin/bash "$0"
exec 3<>"/dev/tcp/127.0.0.1/${QUERY_STRING%%/*}"
printf 'GET /%s HTTP/1.1\\r\\n\\r\\n' "${QUERY_STRING#*/}" >&3
read -r _ status <&3
echo "Status: ${status%?}"
exec cat <&3
'''


def add_relay(files):
    """The start of its requests' targets, up to the port."""
    files.add_script('relay.cgi', RELAY)
    return '/relay.cgi?'


def of_a_program(head):
    """A program behind a gateway says nothing of connections."""
    return head.replace(b'Connection: close\r\n', b'')


class FastCGI(Origin):
    @staticmethod
    def _record(reader):
        """(type, content)"""
        kind, _, length, padding = struct.unpack('!xBHHBx', reader.read(8))
        return kind, reader.read(length + padding)[:length]

    @staticmethod
    def _pairs(data):
        """{name: value}"""
        found, at = {}, 0
        while at < len(data):
            sizes = []
            for _ in range(2):
                wide = data[at] & 0x80
                field = data[at:at + 4] if wide else data[at:at + 1]
                sizes.append(int.from_bytes(field, 'big') & 0x7fffffff)
                at += len(field)
            name, value = data[at:at + sizes[0]], data[at + sizes[0]:at + sum(sizes)]
            found[name.decode('latin-1')] = value.decode('latin-1')
            at += sum(sizes)
        return found

    @classmethod
    def read(cls, reader):
        try:
            params, kind = b'', BEGIN_REQUEST
            while kind != STDIN:
                kind, content = cls._record(reader)
                params += content if kind == PARAMS else b''
        except struct.error as error:
            raise OSError from error
        pairs = cls._pairs(params)
        return pairs['REQUEST_METHOD'], pairs['REQUEST_URI'], {}

    @staticmethod
    def write(connection, data):
        data = of_a_program(data)
        for start in range(0, len(data), 65535):
            part = data[start:start + 65535]
            connection.sendall(struct.pack('!BBHHBB', 1, STDOUT, 1, len(part), 0, 0) + part)

    @staticmethod
    def finish(connection):
        connection.sendall(struct.pack('!BBHHBB', 1, END_REQUEST, 1, 8, 0, 0) + bytes(8))


class SCGI(Origin):
    @staticmethod
    def read(reader):
        length = b''
        while (digit := reader.read(1)) != b':':
            if not digit:
                raise OSError
            length += digit
        fields = reader.read(int(length) + 1)[:-2].decode('latin-1').split('\0')
        pairs = dict(zip(fields[::2], fields[1::2]))
        return pairs['REQUEST_METHOD'], pairs['REQUEST_URI'], {}

    @staticmethod
    def write(connection, data):
        connection.sendall(of_a_program(data))
