"""Loops on Responses that tell their caller of calls and results: a right one, and others with one fault each."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import responses_plain
from responses_plain import CALLS, Run, State
from service import Service

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, outcome


class Observed(Run):
    """Hands its steps to a listener: `item` for calls, `output` for results."""

    listen: Callable[[Json], Any]

    def kept(self, output: list[Json]) -> list[Json]:
        for item in output:
            if item["type"] in CALLS:
                self.item(item)
        return super().kept(output)

    def item(self, call: Json) -> None:
        arguments = call.get("arguments", call.get("input"))
        self.listen({"kind": "call", "call_id": call["call_id"], "name": call["name"], "arguments": arguments})

    def result(self, call: Json) -> Json:
        told = super().result(call)
        self.listen({"kind": "result", "call_id": call["call_id"], "result": told["output"]})
        return told


class Driver(responses_plain.Driver):
    """Right: it tells no end, and all calls of a turn before the first runs."""

    steps: ClassVar[type[Observed]] = Observed

    def start(self) -> Json:
        told = super().start()
        return told | {"capabilities": told["capabilities"] | {"events": True}}

    def run(self, case: Json, emit: Callable[[Any], None]) -> Json:
        service: Service = self.service(case)
        run = self.steps(case, service)
        run.listen = emit
        try:
            return outcome(run.answer)
        finally:
            service.close()


class DriverItemIds(Driver):
    """Calls are told under the id of their item, and results under that of the call."""

    class steps(Observed):
        def item(self, call: Json) -> None:
            self.listen(
                {"kind": "call", "call_id": call["id"], "name": call["name"], "arguments": call.get("arguments")}
            )


class DriverWhole(Driver):
    """Each step tells all results of the history."""

    class steps(Observed):
        def step(self, state: State, n: int) -> State:
            for item in state.items:
                if item.get("type") == "function_call_output":
                    self.listen({"kind": "result", "call_id": item["call_id"], "result": item["output"]})
            return super().step(state, n)
