"""The identity of a client, and the headers that are passed on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from starlette.requests import Request

__all__ = ["owner_of", "passed_on"]

PASSED_ON = ("traceparent", "tracestate", "x-request-id")


def owner_of(request: Request) -> str:
    """A client is identified by its key. All clients without a key are one; only unguessable ids separate them."""
    key = request.headers.get("x-api-key") or request.headers.get("authorization", "")
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest() if key else ""


def passed_on(request: Request) -> Mapping[str, str]:
    """The trace headers, and the key as a bearer token."""
    headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
    key = request.headers.get("x-api-key")
    token = f"Bearer {key}" if key else request.headers.get("authorization")
    return {**headers, "authorization": token} if token else headers
