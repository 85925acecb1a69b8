# SPDX-License-Identifier: MIT
"""Whether a client can see that a response is not whole."""
import client
from streams import Streams


def ends_badly_h1(server, path, coding):
    try:
        with client.Connection(server.port) as connection:
            connection.send(path, [('Accept-Encoding', coding)])
            return connection.answer().status >= 500
    except (client.Broken, ConnectionError):
        return True


def ends_badly_h2(server, path, coding):
    with Streams(server.port) as streams:
        stream = streams.ask(path, [('Accept-Encoding', coding)])
        streams.until(lambda: stream in streams.ended or stream in streams.broken)
        # and the connection is of use all the same
        after = streams.ask('/two.json')
        assert streams.whole(after)[0].plain == b'{}'
        return stream in streams.broken or streams.answers[stream].status >= 500


ENDS_BADLY = {'h1': ends_badly_h1, 'h2': ends_badly_h2}
