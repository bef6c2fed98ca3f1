"""A provider on a socket that holds its last reply until its client hangs up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PATIENCE = 10.0
"""Seconds that a test waits for what has to happen."""

OK = b"HTTP/1.1 200 OK\r\n"


@dataclass
class Held:
    """What was seen of the client."""

    url: str
    reached: threading.Event = field(default_factory=threading.Event)
    """The last reply has begun, or its request has come."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    """The client has closed the connection of the held reply."""
    requests: int = 0


@contextmanager
def held(*bodies: bytes, begin: bytes = b"") -> Iterator[Held]:
    """A provider that answers with these plain replies and then with the beginning of a reply, on any connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        seen = Held(f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        thread = threading.Thread(target=_serve, args=(server, seen, list(bodies), begin))
        thread.start()
        yield seen
    thread.join(PATIENCE)


def _serve(server: socket.socket, seen: Held, bodies: list[bytes], begin: bytes) -> None:
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            client.settimeout(PATIENCE)
            with client:
                while _request_came(client):
                    seen.requests += 1
                    if bodies:
                        body = bodies.pop(0)
                        length = f"content-length: {len(body)}\r\n\r\n".encode()
                        client.sendall(OK + b"content-type: application/json\r\n" + length + body)
                        continue
                    if begin:
                        client.sendall(OK + b"content-type: text/event-stream\r\n\r\n" + begin)
                    seen.reached.set()
                    if not client.recv(1):
                        seen.hung_up.set()
                        return


def _request_came(client: socket.socket) -> bool:
    """Read one request; False if the client has closed the connection."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = client.recv(65536)
        if not piece:
            return False
        text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    length = int(lengths[0].partition(b":")[2])
    while len(body) < length:
        body += client.recv(65536)
    return True
