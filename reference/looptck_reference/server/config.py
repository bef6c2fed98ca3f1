"""What a server was started with, and its way to everything outside."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from looptck_reference.exchange import tls_for
from looptck_reference.server.clock import Clock, SystemClock
from looptck_reference.server.dialects import DOCUMENT, ServerDialect
from looptck_reference.server.limits import Limits
from looptck_reference.server.pools import Pools
from looptck_reference.server.tools import Callback, PythonLimits, SearchIndex
from looptck_reference.server.values import Permission

__all__ = ["Config", "client_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a server was started with.

    upstream: base URL of the model, the version in its path. upstream_key: its key; the client's own is passed on
    where there is none. search: the pages that web search finds, None without web search. models: what
    `/v1/models` lists; a request may name any. transport: how everything outside is reached, for tests.
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
    """For the model and the dispatch URL alike."""
    verify = tls_for("http://") if _all_plain(config) else True
    return httpx.AsyncClient(
        trust_env=False,
        timeout=httpx.Timeout(config.limits.upstream_timeout, connect=10),
        transport=config.transport or Pools(verify=verify, most=2 * config.limits.runs),
        headers={"user-agent": "looptck-reference"},
    )


def _all_plain(config: Config) -> bool:
    return all(url is None or url.startswith("http://") for url in (config.upstream, config.dispatch_url))
