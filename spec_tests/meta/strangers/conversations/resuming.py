"""Faults in how a run is suspended and resumed."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator


class SiblingsRunAgain(chat_sync.Driver):
    """A resumed turn runs all its calls, those that have run before too."""

    class run_of(chat_sync.Run):
        def resume(self) -> Generator[str, None, Json]:
            self.case["resume"]["state"]["results"] = [None] * len(self.case["resume"]["state"]["results"])
            return super().resume()


class ApprovedRunsAgain(chat_sync.Driver):
    """An approved call of a resumed run runs once more when the next question comes."""

    def listen(self, run: Any, case: Json, emit: Callable[[str], None]) -> Json:
        name = case.get("conversation", "")
        if not case.get("resume"):
            for call, decisions in self.__dict__.setdefault("approved", {}).pop(name, []):
                run.result(call, decisions)
            return super().listen(run, case, emit)
        decisions = {one["id"]: one for one in case["resume"]["decisions"]}
        calls = case["resume"]["state"]["messages"][-1]["tool_calls"]
        approved = [(call, decisions) for call in calls if call["id"] in decisions]
        self.__dict__.setdefault("approved", {})[name] = approved
        return super().listen(run, case, emit)


class TextOfTheTurnLost(chat_sync.Driver):
    """Of the turn that waits the state has the calls, and not the text beside them."""

    class run_of(chat_sync.Run):
        def suspended(self, waiting: list[Json], results: list[str | None]) -> Json:
            self.messages[-1] = {**self.messages[-1], "content": None}
            return super().suspended(waiting, results)


class StateStaysHere(chat_sync.Driver):
    """The state is a key to something in this process, though it is declared to travel."""

    class run_of(chat_sync.Run):
        shelf: ClassVar[dict[str, Json]] = {}

        def suspended(self, waiting: list[Json], results: list[str | None]) -> Json:
            outcome = super().suspended(waiting, results)
            key = uuid.uuid4().hex
            self.shelf[key] = outcome["state"]
            return {**outcome, "state": key}

        def resume(self) -> Generator[str, None, Json]:
            self.case["resume"]["state"] = self.shelf[self.case["resume"]["state"]]
            return super().resume()


class SystemPromptLost(messages_async.Driver):
    """The state has the messages, and the system prompt is none of them."""

    class run_of(messages_async.Run):
        def suspended(self, calls: list[Json]) -> Json:
            outcome = super().suspended(calls)
            return {**outcome, "state": {**outcome["state"], "system": ""}}


class ThinkingLost(messages_async.Driver):
    """Of the turn that waits the state has texts and calls, and not the thinking before them."""

    class run_of(messages_async.Run):
        def suspended(self, calls: list[Json]) -> Json:
            last = self.thread.messages[-1]
            kept = [one for one in last["content"] if "thinking" not in one["type"]]
            self.thread.messages[-1] = {**last, "content": kept}
            return super().suspended(calls)


class OtherIds(messages_async.Driver):
    """Results of a resumed turn carry other ids than its calls."""

    class run_of(messages_async.Run):
        async def turn(self, calls: list[Json], said: dict[str, Json]) -> Json | None:
            if said:
                said = {f"{id}_resumed": one for id, one in said.items()}
                calls = [{**call, "id": f"{call['id']}_resumed"} for call in calls]
            return await super().turn(calls, said)


class SiblingsNeverRun(messages_async.Driver):
    """A resumed turn runs the calls that were decided about; those beside them get empty results."""

    class run_of(messages_async.Run):
        async def turn(self, calls: list[Json], said: dict[str, Json]) -> Json | None:
            if not said:
                return await super().turn(calls, said)
            decided = [call for call in calls if call["id"] in said]
            await super().turn(decided, said)
            skipped = [call for call in calls if call["id"] not in said]
            self.thread.say("user", [messages_async.block(call, "", False) for call in skipped], True)
            return None


class SiblingResultLost(responses_items.Driver):
    """The result of a call that has run before the suspension is empty afterwards."""

    class run_of(responses_items.Run):
        async def resume(self) -> AsyncGenerator[str]:
            state = self.case["resume"]["state"]
            state["outputs"] = [None if one is None else "" for one in state["outputs"]]
            async for piece in super().resume():
                yield piece


class DecisionsByPlace(responses_items.Driver):
    """The first decision is for the first call that waits, whatever its id says."""

    class run_of(responses_items.Run):
        async def handle(self, hands: list[Any], said: dict[str, Json]) -> None:
            open_ones = [hand.name for hand in hands if hand.needs_approval]
            await super().handle(hands, dict(zip(open_ones, said.values(), strict=False)) if said else said)


class ToolsNotOffered(responses_items.Driver):
    """A resumed run offers no tools."""

    class assistant(responses_items.Assistant):
        def body(self, items: list[Json]) -> Json:
            body = super().body(items)
            if self.__dict__.get("resumed"):
                body.pop("tools", None)
            return body

    class run_of(responses_items.Run):
        async def resume(self) -> AsyncGenerator[str]:
            self.assistant.resumed = True
            async for piece in super().resume():
                yield piece


class ResumedRunForgotten(responses_items.Driver):
    """What a resumed run says is not added to its conversation."""

    def keep(self, run: Any, items: list[Json]) -> None:
        if not run.case.get("resume"):
            super().keep(run, items)


class FirstDecisionForAll(responses_stateful.Driver):
    """A resumed run takes the first decision for all calls that wait."""

    class loop(responses_stateful.Loop):
        async def answer(self, calls: list[Json], said: dict[str, Json]) -> None:
            if said:
                said = dict.fromkeys(said, next(iter(said.values())))
            await super().answer(calls, said)


class NoApprovalAfterwards(responses_stateful.Driver):
    """Calls that a resumed run makes later run without approval."""

    class loop(responses_stateful.Loop):
        def is_held(self, call: Json) -> bool:
            return not self.case.get("resume") and super().is_held(call)

        async def output(self, call: Json, decisions: dict[str, Json]) -> str:
            if self.case.get("resume") and call["call_id"] not in decisions:
                decisions = {call["call_id"]: {"decision": "approve"}}
            return await super().output(call, decisions)


class OldResponseIsLast(responses_stateful.Driver):
    """A run that was resumed in a conversation goes on from the response before the suspended one the next time."""

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        before = self.links.get(case.get("conversation", ""))
        kept = before and responses_stateful.Link(before.instructions, self.roots.get(case["conversation"]))
        if before and not case.get("resume"):
            self.roots[case["conversation"]] = before.last
        outcome = await super().run_async(case, emit)
        if kept and case.get("resume"):
            self.links[case["conversation"]] = kept
        return outcome

    def __init__(self) -> None:
        super().__init__()
        self.roots: dict[str, str | None] = {}
