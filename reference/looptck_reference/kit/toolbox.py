"""A case's tools and telemetry for the driver: handlers that ask the kit, and spans that are sent to it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from opentelemetry import context

from looptck_reference.http.stepping import AsyncConfirm, Confirm
from looptck_reference.kit.posting import AsyncPosts, Posts
from looptck_reference.kit.served import Served
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.approval import Decision, Pending, decision
from looptck_reference.vocabulary.parts import Parts
from looptck_reference.vocabulary.registry import KindHandler
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

__all__ = ["LOOPBACK", "ToolboxClient", "traced", "value_of"]

LOOPBACK: dict[str, Any] = {"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "trust_env": False}
"""Options of clients for the kit's servers, which use plain HTTP and no proxy.

Loading the trusted certificates takes httpx 17 ms. This context trusts none, so HTTPS would fail instead of going
unchecked.
"""


class ToolboxClient:
    """Handlers that send their arguments to the kit's toolbox and do what it answers."""

    def __init__(self, mode: str, posts: Posts, async_posts: AsyncPosts | None) -> None:
        self._posts = posts
        self._async_posts = async_posts
        self._mode = mode
        self.served = Served()
        """The tools of the case's servers."""

    def functions(self, case: Json) -> dict[str, Handler]:
        """The handlers by tool name, for each tool that should have one."""
        sent = {tool["name"]: self.function(tool["url"], tool.get("handler")) for tool in case["tools"] if tool["url"]}
        further = {name: self.function(url) for name, url in case.get("handlers", {}).items()}
        return {**sent, **further, **self.served.handlers}

    def function(self, url: str, wanted: str | None = None) -> Handler:
        """A handler of a tool: a coroutine function if the case asks for one, or if the run is async."""

        def handle(**arguments: Any) -> Any:
            return self._post(url, {"arguments": arguments})

        async def handle_async(**arguments: Any) -> Any:
            return await self._post_async(url, {"arguments": arguments})

        return handle_async if (wanted or self._mode) == "async" else handle

    def kinds(self, case: Json) -> dict[str, KindHandler]:
        """The handlers by kind, for each kind of tool that should have one."""
        return {kind: self.kind(url) for kind, url in case.get("kinds", {}).items()}

    def kind(self, url: str) -> KindHandler:
        """A handler of a kind, which sends its inputs to the kit."""

        def handle(tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> Any:
            sent = {"tool": tool.name, "arguments": arguments, "agent": agent.name, "inputs": dict(inputs)}
            return self._post(url, sent) if self._mode == "sync" else self._post_async(url, sent)

        return handle

    def confirm(self, url: str) -> Confirm:
        """A function that asks the kit whether a call may run."""

        def ask(call: Pending) -> Decision:
            return decision(self._posts.post(url, {"call": asdict(call)}))

        return ask

    def async_confirm(self, url: str) -> AsyncConfirm:
        """The same for async runs."""

        async def ask(call: Pending) -> Decision:
            assert self._async_posts is not None
            return decision(await self._async_posts.post(url, {"call": asdict(call)}))

        return ask

    def _post(self, url: str, sent: Json) -> Any:
        return value_of(self._posts.post(url, sent))

    async def _post_async(self, url: str, sent: Json) -> Any:
        assert self._async_posts is not None
        return value_of(await self._async_posts.post(url, sent))


def value_of(reply: Json) -> Any:
    """The value or parts that the tool should return; raises the error that it should raise, under the given name."""
    if error := reply.get("error"):
        raise type(error["type"], (Exception,), {})(error["message"])
    return Parts(reply["parts"]) if "parts" in reply else reply["value"]


@contextmanager
def traced(case: Json) -> Iterator[TracerProvider | None]:
    """The tracer provider that exports a run's spans to the kit; None if the case asks for no telemetry."""
    telemetry = case.get("telemetry")
    if telemetry is None:
        yield None
        return
    # The SDK and its exporter are slow to import, and few runs need them.
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    memory = InMemorySpanExporter()
    resource = Resource({"service.name": "looptck-reference"})
    provider = trace.TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    around = context.attach(TraceContextTextMapPropagator().extract(telemetry))
    try:
        yield provider
    finally:
        context.detach(around)
        with requests.Session() as session:
            session.trust_env = False  # no proxy may come between
            exporter = OTLPSpanExporter(f"{telemetry['endpoint']}/v1/traces", session=session)
            exporter.export(memory.get_finished_spans())
