"""Runs that ask the model in a way of their own: a request that fails has no seam, so that the runner is replaced."""

from __future__ import annotations

from collections.abc import Iterable

from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.runner import Runner
from looptck_reference.values import ToolCall


class Asker(Runner):
    """A runner of one run, which knows its loop."""

    loop: Loop


def asking(kind: type[Asker]) -> type[Invoker]:
    """An invoker whose sync runs are of this kind."""

    class Asking(Invoker):
        def runner(self, begun: Invocation) -> Runner:
            where, wire = begun.service, begun.loop.wire
            asker = kind(where.base_url, where.api_key, wire=wire, client=self.client, tracing=self.tracing)
            asker.loop = begun.loop
            return asker

    return Asking


def run_again(loop: Loop, calls: Iterable[ToolCall]) -> None:
    """Run calls that have run before, and forget what they return."""
    for call in calls:
        handler = loop.handler_for(call)
        if handler is not None:
            handler(**loop.parse_arguments(call.arguments))
