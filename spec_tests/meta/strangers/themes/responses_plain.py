"""No fault: a loop on Responses with plain replies, folded with `reduce` over states that never change."""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from service import Service

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, offered, outcome, responses_text, responses_tools, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("function_call", "custom_tool_call")
Items = tuple[Json, ...]


@dataclass(frozen=True)
class State:
    """How far a run has come: its items, and its answer when it has one."""

    items: Items
    answer: str | None = None


class Run:
    """The steps of a run; each is a function of what it is given."""

    def __init__(self, case: Json, service: Service) -> None:
        self.case, self.service = case, service
        self.tools = self.named(case["tools"])

    def named(self, tools: list[Json]) -> dict[str, Json]:
        """Give the tools under the names that the service takes."""
        return offered(tools)

    def offers(self) -> list[Json]:
        """Give what stands under `tools` in the next request."""
        hosted: list[Json] = [tool.get("tool", {"type": "web_search"}) for tool in self.case.get("hosted_tools", [])]
        return [*responses_tools(self.tools), *hosted]

    def body(self, items: Items) -> Json:
        """Write a request that leaves nothing at the service."""
        offers = self.offers()
        return {
            "model": self.case["model"],
            "input": list(items),
            "store": False,
            "include": ["reasoning.encrypted_content"],
            **({"tools": offers} if offers else {}),
        }

    def output(self, reply: Json) -> list[Json]:
        """Give the items of a response that is whole."""
        match reply.get("status"):
            case "completed" if isinstance(reply.get("output"), list):
                return reply["output"]
            case "incomplete":
                raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
            case status:
                raise Stopped("provider", f"the response is {status}: {reply.get('error') or ''}")

    def kept(self, output: list[Json]) -> list[Json]:
        """Give the items of a turn that go back."""
        return output

    def result(self, call: Json) -> Json:
        """Run a call, and write its output."""
        tools = self.tools if call["type"] == "function_call" else {}
        text, _ = run_call(tools, call.get("name"), call.get("arguments"))
        return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}

    def step(self, state: State, _: int) -> State:
        """Ask once, unless there is an answer already."""
        if state.answer is not None:
            return state
        output = self.output(self.service.ask(self.body(state.items)))
        calls = [item for item in output if item["type"] in CALLS]
        if not calls:
            return replace(state, answer=responses_text(output))
        return replace(state, items=(*state.items, *self.kept(output), *map(self.result, calls)))

    def answer(self) -> str:
        """Fold the steps, and give the answer."""
        begin = State(tuple(self.case["messages"]))
        end = reduce(self.step, range(self.case["options"].get("limit", LIMIT)), begin)
        if end.answer is None:
            raise Stopped("limit", "the limit of model calls is reached")
        return end.answer


class Driver:
    """Folds a run for each case."""

    steps: ClassVar[type[Run]] = Run
    service: ClassVar[type[Service]] = Service

    def start(self) -> Json:
        able = {"limit": True, "concurrent": True, "hosted": True, "hosted_others": True}
        return started(f"themes-{type(self).__name__}", ["openai-responses"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        def talk() -> str:
            service = self.service(case)
            try:
                return self.steps(case, service).answer()
            finally:
                service.close()

        return outcome(talk)
