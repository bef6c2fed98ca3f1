"""The revision without a handshake: what its requests say for themselves, and what its results have in addition.

2026-07-28: Overview, _meta; Streamable HTTP, Request Metadata and Custom Headers from Tool Parameters.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from looptck.provider.mcp.server import STATELESS, Server

Json = dict[str, Any]

PREFIX = "io.modelcontextprotocol/"
VERSION = PREFIX + "protocolVersion"
CAPABILITIES = PREFIX + "clientCapabilities"
UNSUPPORTED = -32022
"""The code of an error that lists the revisions which the server speaks."""
DISCOVER = "server/discover"
FRESH = {"ttlMs": 0, "cacheScope": "private"}
"""A list that is to be asked for again each time."""
MARK = "x-mcp-header"
"""The mark of a parameter in a schema: the name of the header that repeats it."""
PARAMETER = "mcp-param-"
"""The beginning of such a header."""
_CODED, _END = "=?base64?", "?="


def metadata(message: Any) -> Json:
    """The metadata of a request; empty if it has none."""
    params = message.get("params") if isinstance(message, dict) else None
    found = params.get("_meta") if isinstance(params, dict) else None
    return found if isinstance(found, dict) else {}


def is_stateless(message: Any, headers: Mapping[str, str]) -> bool:
    """Whether a request is of a revision without a handshake: by its metadata, its method, or a header.

    Args:
        message: the body, parsed.
        headers: the headers, with their names in lower case.
    """
    if not isinstance(message, dict) or message.get("method") == "initialize":
        return False
    named = headers.get("mcp-protocol-version", "")
    return VERSION in metadata(message) or message.get("method") == DISCOVER or named >= STATELESS


def wanted(message: Json, headers: Mapping[str, str]) -> Any:
    """The revision that a request names."""
    return metadata(message).get(VERSION, headers.get("mcp-protocol-version", STATELESS))


def discovered(server: Server) -> Json:
    """The result of `DISCOVER`."""
    return {"supportedVersions": supported(server), "capabilities": server.capabilities, **FRESH}


def supported(server: Server) -> list[str]:
    """All revisions that a server speaks, the latest first."""
    return [*([STATELESS] if server.stateless else []), *server.revisions]


def completed(server: Server, message: Json) -> Json:
    """A response, whose result (if it has one) has its type and the name of the server."""
    if "result" not in message:
        return message
    about = {"_meta": {PREFIX + "serverInfo": {"name": server.name, "version": "1.0.0"}}}
    return {**message, "result": {"resultType": "complete", **message["result"], **about}}


def decoded(value: str) -> str:
    """The text in a header. One that is not coded as the specification says is returned as it is."""
    if not value.startswith(_CODED) or not value.endswith(_END):
        return value
    try:
        return base64.b64decode(value[len(_CODED) : -len(_END)], validate=True).decode()
    except (binascii.Error, ValueError):
        return value


def encoded(text: str) -> str:
    """A text as a header has it."""
    looks_coded = text.startswith(_CODED) and text.endswith(_END)
    if text and text == text.strip() and all(" " <= sign <= "~" for sign in text) and not looks_coded:
        return text
    return f"{_CODED}{base64.b64encode(text.encode()).decode()}{_END}"


def mirrored(schema: Mapping[str, Any], arguments: Any) -> dict[str, str]:
    """The headers of a call: by name in lower case, what the marked parameters are there."""
    found = {}
    for header, path in _marked(schema):
        value = arguments
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            found[PARAMETER + header.lower()] = encoded(_text(value))
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _marked(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The marks in a schema, each with the path of its parameter."""
    for name, inner in schema.get("properties", {}).items():
        if MARK in inner:
            yield inner[MARK], (*path, name)
        yield from _marked(inner, (*path, name))
