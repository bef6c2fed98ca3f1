"""Requests that a web page may send from a browser, without its user's knowledge, to a server on the same machine.

A page of any site can let a browser send requests to the loopback address, and, where a name of its own is made to
point there, read the answers. Browsers tell on it: by `Origin`, by `Sec-Fetch-Site`, and by the name in `Host`.
Without asking the server first they send bodies of a few content types only, and JSON is none of them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from looptck_reference.server.config import Config
from looptck_reference.server.errors import Refused
from looptck_reference.server.http.answers import error_answer

__all__ = ["NoPages"]

READ = ("application/json", "multipart/form-data")
"""The content types of bodies that some route reads; `+json` is JSON too."""


class NoPages:
    """Refuses what a web page may have sent, and bodies whose content type does not say that they are for this server.

    loopback_only: whether the name in `Host` has to be one of the loopback address, as it has where nothing else is
    listened on.
    """

    def __init__(self, app: ASGIApp, *, loopback_only: bool) -> None:
        self._app = app
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._refusal(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        if error is None:
            await self._app(scope, receive, send)
            return
        config: Config = scope["app"].state.simulator.config
        answer = error_answer(error, scope["path"], config.dialect)
        answer.headers["connection"] = "close"
        await answer(scope, receive, send)

    def _refusal(self, method: str, headers: Mapping[str, str]) -> Refused | None:
        host = headers.get("host", "")
        if self._loopback_only and host and not _is_loopback(host):
            return Refused(403, f"the Host {host!r:.100} is no name of the loopback address")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return Refused(403, f"the Origin {origin!r:.100} is not this server: a web page has sent the request")
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return Refused(403, "Sec-Fetch-Site says that a page of another site has sent the request")
        return _unread_type(headers) if method in {"POST", "PUT", "PATCH"} and _has_body(headers) else None


def _unread_type(headers: Mapping[str, str]) -> Refused | None:
    type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if type in READ or type.endswith("+json"):
        return None
    return Refused(415, f"the content-type is {type!r:.100}: send application/json, or multipart/form-data for a file")


def _has_body(headers: Mapping[str, str]) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_loopback(host: str) -> bool:
    """Whether the name in a `Host`, without the port, is one of the loopback address."""
    name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
