"""What HTTP clients of several languages say where a server gave no answer is read as a failure, and nothing is not."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.failure_texts import tells_of_failure

CALL = 'forecast {"city": "Paris"}'
NO_ANSWER = [
    "RemoteDisconnected: Remote end closed connection without response",
    "IncompleteRead: IncompleteRead(20 bytes read)",
    "Server disconnected without sending a response.",
    "peer closed connection without sending complete message body (incomplete chunked read)",
    "Connection closed",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    "EOF",
    "unexpected EOF",
    'Post "http://127.0.0.1:4711/mcp": EOF',
    "read tcp 127.0.0.1:5000->127.0.0.1:4711: read: connection reset by peer",
    "socket hang up",
    "ECONNRESET",
    "terminated",
    "aborted",
    "other side closed",
    "Premature close",
    "fetch failed",
    "HTTP/1.1 header parser received no bytes",
    "java.io.IOException: fixed content-length: 40, bytes received: 20",
    "java.net.SocketException: Connection reset",
    "\\n not found: limit=0 content=…",
    "unexpected end of stream on http://127.0.0.1:4711/...",
    "The response ended prematurely. (ResponseEnded)",
    "connection closed before message completed",
    "end of file before message length reached",
    "end of file reached (EOFError)",
    "Empty reply from server",
    "cURL 52: Empty reply from server",
    "transfer closed with outstanding read data remaining",
    "The network connection was lost.",
    "Transport is closing",
    "%Mint.TransportError{reason: :closed}",
    ":closed",
    "Die Verbindung wurde vom Server getrennt.",
    "服务器没有响应",
    '{"error": true, "result": null}',
    '{"type": "text", "text": "EOF"}',
    "No response from forecast",
]  # fmt: skip
NOTHING = [
    "",
    "null",
    "None",
    "{}",
    "[]",
    '""',
    "undefined",
    "[object Object]",
    "Done.",
    "OK",
    "Success",
    "Tool executed successfully.",
    "The tool call has completed.",
    "(no output)",
    "(empty MCP tool result)",
    "Tool returned no content",
    "forecast",
    "forecast: done (Paris)",
    '{"result": null}',
    '{"content": [], "structuredContent": null}',
    '[{"type": "text", "text": ""}]',
    "-1",
]


@pytest.mark.parametrize("text", NO_ANSWER)
def test_words_of_clients(text: str) -> None:
    """Any words of a client read as a failure."""
    assert tells_of_failure(text, CALL)


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_and_success(text: str) -> None:
    """A text that says that there is nothing, that all is well, or what was called, does not."""
    assert not tells_of_failure(text, CALL)
