"""Faults in the approval of calls by a hook."""

# ruff: noqa: ARG005
# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json


class RunsWhileItAsks(chat_sync.Driver):
    """A call runs before the hook has answered, and its result is thrown away if the answer is no."""

    class run_of(chat_sync.Run):
        def result(self, call: Json, decisions: dict[str, Json]) -> str | None:
            function = call.get("function") or {}
            tool = chat_sync.find(self.agent.tools, function.get("name"))
            if not (tool and tool.get("approval") and self.case.get("confirm")):
                return super().result(call, decisions)
            early = self.use(tool, chat_sync.read_arguments(function["arguments"]))
            self.use, use = (lambda tool, arguments: early), self.use
            try:
                return super().result(call, decisions)
            finally:
                self.use = use


class RejectedRuns(chat_sync.Driver):
    """A rejection is spelt in another way than the one that is looked for, so the call runs."""

    class run_of(chat_sync.Run):
        def decision(self, id: str, name: str, arguments: Json, decisions: dict[str, Json]) -> Json | None:
            said = super().decision(id, name, arguments, decisions)
            return said and {**said, "decision": {"reject": "rejected"}.get(said["decision"], said["decision"])}


class OneNoIsNoToAll(chat_sync.Driver):
    """After a rejection the calls behind it do not run, not even approved ones or those that need no approval."""

    class run_of(chat_sync.Run):
        def settle(self, calls: list[Json], results: list[str | None], decisions: dict[str, Json]) -> Json | None:
            self.offended = False
            return super().settle(calls, results, decisions)

        def result(self, call: Json, decisions: dict[str, Json]) -> str | None:
            if self.offended:
                return "Skipped, because the user has rejected another call."
            text = super().result(call, decisions)
            self.offended = bool(text and text.startswith("The user has rejected"))
            return text


class RejectionUnanswered(messages_async.Driver):
    """A rejected call gets no result."""

    class run_of(messages_async.Run):
        def close(self, calls: list[Json], results: list[Json | None]) -> None:
            kept = [
                (call, one)
                for call, one in zip(calls, results, strict=True)
                if not str((one or {}).get("content", "")).startswith("The user does not allow")
            ]
            if kept:
                super().close([call for call, _ in kept], [one for _, one in kept])


class ChangesIgnored(messages_async.Driver):
    """A call that the user has changed runs as the model wrote it."""

    class run_of(messages_async.Run):
        async def into(self, results: list[Json | None], at: int, call: Json, word: Any, decision: Json | None) -> None:
            plain = decision and {key: value for key, value in decision.items() if key != "parameters"}
            await super().into(results, at, call, word, plain)


class DecisionForAnotherCall(messages_async.Driver):
    """The nth answer of the hook is for the nth call of the turn, whether or not that one needed approval."""

    class run_of(messages_async.Run):
        async def decided(self, calls: dict[int, Json], said: dict[str, Json]) -> dict[int, Json]:
            found = await super().decided(calls, said)
            places = list(calls)
            return {at: found[places[n % len(places)]] for n, at in enumerate(sorted({*range(len(places)), *places}))}


class ApprovedForGood(messages_async.Driver):
    """A tool that was approved once needs no approval in later turns of the conversation."""

    class run_of(messages_async.Run):
        async def hook(self, call: Json) -> Json:
            trusted = self.thread.__dict__.setdefault("trusted", {})
            decision = trusted.get(call["name"]) or await super().hook(call)
            if decision["decision"] == "approve":
                trusted[call["name"]] = decision
            return decision


class OneAnswerForATool(responses_items.Driver):
    """The hook is asked once for each tool, and its answer holds for all calls of the tool."""

    class run_of(responses_items.Run):
        async def one(self, hand: Any, decision: Json | None) -> None:
            if hand.needs_approval and decision is None:
                lock = self.__dict__.setdefault("locks", {}).setdefault(
                    hand.call["name"], responses_items.asyncio.Lock()
                )
                known = self.__dict__.setdefault("known", {})
                async with lock:
                    if hand.call["name"] not in known:
                        reply = await self.kit.post(self.case["confirm"], json={"call": hand.question})
                        known[hand.call["name"]] = reply.json()
                decision = {**known[hand.call["name"]], "parameters": None}
            await super().one(hand, decision)


class RejectionLooksLikeAResult(responses_items.Driver):
    """The model is told of a rejected call that it has found nothing."""

    class run_of(responses_items.Run):
        async def one(self, hand: Any, decision: Json | None) -> None:
            await super().one(hand, decision)
            if str(hand.output).startswith("Rejected by the user."):
                hand.output = "[]"


class AskedTwice(responses_stateful.Driver):
    """The hook is asked for all calls of a turn, and again for each when it is about to run."""

    class loop(responses_stateful.Loop):
        async def output(self, call: Json, decisions: dict[str, Json]) -> str:
            if self.case.get("confirm") and self.is_held(call):
                decisions = {call["call_id"]: await self.hook(call)}
            return await super().output(call, decisions)


class ChangesReplaceAll(responses_stateful.Driver):
    """Changed parameters take the place of all arguments, so the others are lost."""

    class loop(responses_stateful.Loop):
        async def output(self, call: Json, decisions: dict[str, Json]) -> str:
            decision = decisions.get(call["call_id"], {})
            if decision.get("parameters"):
                call = {**call, "arguments": responses_stateful.json.dumps(decision["parameters"])}
            return await super().output(call, decisions)
