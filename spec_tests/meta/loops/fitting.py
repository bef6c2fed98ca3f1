"""Checks the arguments of tool runs against the schemas that the run offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from jsonschema import Draft202012Validator

from looptck.bench.bench import Running
from looptck.bench.benches import LoopBench, ServerBench
from looptck.bench.run import Run
from looptck.catalogue.agents import Tool

Offer = tuple[str, Sequence[Tool]]
MEANT = {"result-of-a-call-that-cannot-run[lacks-a-member]"}
"""The cases whose calls are not to fit, and which judge a loop that checks arguments and one that does not."""


def misfit(tool: Tool, arguments: Any) -> str | None:
    """Why arguments do not fit a tool's schema, without additional members; None if they fit.

    Parameters with a binding are ignored, because the model does not write them.
    """
    written = {name: value for name, value in arguments.items() if name not in tool.bindings}
    errors = Draft202012Validator(_closed(tool.offered)).iter_errors(written)
    return next((f"{tool.name} with {arguments}: {error.message}" for error in errors), None)


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with additional members forbidden in every object that lists its members."""
    closed = dict(schema)
    if "properties" in schema:
        closed["properties"] = {name: _closed(one) for name, one in schema["properties"].items()}
        closed.setdefault("additionalProperties", False)
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    return closed


def misfits(run: Run, tools: Sequence[Tool]) -> Iterator[str]:
    """The tool runs whose arguments do not fit the offered schema."""
    for name, arguments in run.tools_ran:
        found = [misfit(tool, arguments) for tool in tools if tool.name == name]
        if found and None not in found:
            yield str(found[0])


@contextmanager
def watched(found: list[str]) -> Iterator[None]:
    """Record the tool runs of all runs in this context whose arguments do not fit the offered schema."""
    begin, ask, result = LoopBench.begin, ServerBench.ask, Running.result
    offers: dict[str, Offer] = {}

    def begun(bench: LoopBench, *args: Any, **how: Any) -> Running:
        running = begin(bench, *args, **how)
        options = how["options"]
        children = (tool for child in options.actor.children for tool in child.tools)
        offers[running.run.id] = how["name"], [*options.offered, *children]
        return running

    def asked(bench: ServerBench, scenario: Any, cell: Any, what: Any, **how: Any) -> Running:
        running = ask(bench, scenario, cell, what, **how)
        offers[running.run.id] = what.question, what.tools
        return running

    def ended(running: Running) -> Run:
        run = result(running)
        name, tools = offers[run.id]
        found.extend(f"{name}: {why}" for why in misfits(run, tools) if name not in MEANT)
        return run

    patches = patch.object(LoopBench, "begin", begun), patch.object(ServerBench, "ask", asked)
    with patches[0], patches[1], patch.object(Running, "result", ended):
        yield
