"""The configuration of a server, and its connections to the outside."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from looptck_reference.server.clock import Clock, SystemClock
from looptck_reference.server.dialects import DOCUMENT, ServerDialect
from looptck_reference.server.limits import Limits
from looptck_reference.server.tools import Callback, PythonLimits, SearchIndex
from looptck_reference.server.values import Permission

__all__ = ["Config", "client_for"]

KEPT_ALIVE = 10
"""The idle connections that are kept: the pool compares each with all others before each request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration of a server.

    upstream: base URL of the model, including the version. upstream_key: its key; without it, the client's own is
    passed on. search: the pages that web search finds; None means no web search. models: the names that `/v1/models`
    lists; a request may name any. transport: replaces all connections to the outside, for tests.
    """

    upstream: str
    upstream_key: str | None = None
    dialect: ServerDialect = DOCUMENT
    max_tool_rounds: int | None = None
    search: SearchIndex | None = None
    code: bool = False
    callbacks: tuple[Callback, ...] = ()
    dispatch_url: str | None = None
    permission: Permission = Permission.AUTO
    models: tuple[str, ...] = ("default",)
    limits: Limits = field(default_factory=Limits)
    python: PythonLimits = field(default_factory=PythonLimits)
    clock: Clock = field(default_factory=SystemClock)
    transport: httpx.AsyncBaseTransport | None = None


def client_for(config: Config) -> httpx.AsyncClient:
    """The client for the model and the dispatch URL."""
    return httpx.AsyncClient(
        trust_env=False,
        timeout=httpx.Timeout(config.limits.upstream_timeout, connect=10),
        transport=config.transport or _network(config),
        headers={"user-agent": "looptck-reference"},
    )


def _network(config: Config) -> httpx.AsyncHTTPTransport:
    limits = httpx.Limits(max_connections=2 * config.limits.runs, max_keepalive_connections=KEPT_ALIVE)
    return httpx.AsyncHTTPTransport(verify=httpx.create_ssl_context(), trust_env=False, limits=limits)
