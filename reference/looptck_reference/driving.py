"""What the driver makes of a case's tools and telemetry: handlers that ask the kit, and spans that go to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from opentelemetry import context
from opentelemetry.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from looptck_reference.agent import Agent
from looptck_reference.registry import KindHandler
from looptck_reference.tools import Handler, Tool
from looptck_reference.values import Json

__all__ = ["Posts", "traced", "value_of"]


class Posts:
    """Handlers that hand their arguments to the kit's toolbox and do what it answers."""

    def __init__(self, mode: str, client: httpx.Client, async_client: httpx.AsyncClient | None) -> None:
        self.client = client
        self.async_client = async_client
        self._mode = mode

    def functions(self, case: Json) -> dict[str, Handler]:
        """A handler for each tool that is to have one, by name."""
        told = {tool["name"]: self.function(tool["url"], tool.get("handler")) for tool in case["tools"] if tool["url"]}
        return told | {name: self.function(url) for name, url in case.get("handlers", {}).items()}

    def function(self, url: str, wanted: str | None = None) -> Handler:
        """A handler of a tool: a coroutine function where that is wanted, or suits the run."""

        def handle(**arguments: Any) -> Any:
            return self._post(url, {"arguments": arguments})

        async def handle_async(**arguments: Any) -> Any:
            return await self._post_async(url, {"arguments": arguments})

        return handle_async if (wanted or self._mode) == "async" else handle

    def kinds(self, case: Json) -> dict[str, KindHandler]:
        """A handler for each kind of tool that is to have one."""
        return {kind: self.kind(url) for kind, url in case.get("kinds", {}).items()}

    def kind(self, url: str) -> KindHandler:
        """A handler of a kind, which tells the kit what it was given."""

        def handle(tool: Tool, arguments: Json, agent: Agent, inputs: Mapping[str, Any]) -> Any:
            told = {"tool": tool.name, "arguments": arguments, "agent": agent.name, "inputs": dict(inputs)}
            return self._post(url, told) if self._mode == "sync" else self._post_async(url, told)

        return handle

    def _post(self, url: str, told: Json) -> Any:
        return value_of(self.client.post(url, json=told))

    async def _post_async(self, url: str, told: Json) -> Any:
        assert self.async_client is not None
        return value_of(await self.async_client.post(url, json=told))


def value_of(response: httpx.Response) -> Any:
    """What the kit wants the tool to return; or it raises what the kit wants it to raise, under that very name."""
    reply = response.raise_for_status().json()
    if error := reply.get("error"):
        raise type(error["type"], (Exception,), {})(error["message"])
    return reply["value"]


@contextmanager
def traced(case: Json) -> Iterator[TracerProvider | None]:
    """Where the spans of a run are to go; in the end they go to the kit. None: nobody wants them."""
    telemetry = case.get("telemetry")
    if telemetry is None:
        yield None
        return
    # The SDK and its exporter take a while to be imported, and few runs need them.
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

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
