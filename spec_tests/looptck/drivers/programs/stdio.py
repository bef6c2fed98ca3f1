"""The tools of a case for a program that takes servers of tools only as commands: standard input and output, passed on.

python -m looptck.drivers.programs.stdio http://127.0.0.1:8000/CASE/mcp

Each line that comes in is a message to that server, and its answer is a line that goes out. No call waits for another.
"""

from __future__ import annotations

import sys
import threading
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
LONGEST = 120.0
"""Seconds that one answer may take: a case may hold a tool at a gate."""
_writing = threading.Lock()


def passed_on(url: str, message: bytes) -> None:
    """Ask the server at this address, and write its answer; nothing, if it has none or is gone with its case."""
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=LONGEST)
    try:
        connection.request("POST", place.path, message, HEADERS)
        answer = connection.getresponse().read()
    except (OSError, HTTPException) as error:
        print(f"the server of the tools at {url} did not answer: {error}", file=sys.stderr)
        return
    finally:
        connection.close()
    if answer:
        with _writing:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


def main(url: str) -> None:
    """Pass on lines until standard input ends."""
    for line in sys.stdin.buffer:
        if line.strip():
            threading.Thread(target=passed_on, args=(url, line), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
