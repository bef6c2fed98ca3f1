"""Conversations that are carried wrongly: what outlives a run, and given histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Fail, Finish, Suspend
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn

ANY: Collateral = {"any-conversation-goes-on": "it has such runs"}
ONCE: Collateral = {"conversation-is-carried-once": "it has such runs"}


@breaks("next-turn-is-accepted", collateral=ANY, cells=CHAT)
class CallsStayAtTheLimit(Loop):
    """Forgets the results of a run that ended at its limit, and keeps the calls."""

    def settled(self) -> list[Json]:
        said = super().settled()
        at_the_limit = isinstance(self.end, Fail) and self.end.reason == "limit"
        return [one for one in said if not (at_the_limit and one.get("role") == "tool")]


@breaks("next-turn-is-accepted", collateral=ANY, cells=CHAT)
class TruncatedTurnsStay(Loop):
    """Keeps a truncated turn with its calls, which were not run and have no results."""

    def model_answered(self, turn: Turn) -> Action:
        action = super().model_answered(turn)
        if isinstance(action, Fail) and turn.calls:
            self.append_turn(turn)
            self.round_ends.append(len(self.history))
        return action


@breaks("next-turn-is-accepted", cells=RESPONSES)
class ThoughtsOfTruncatedTurnsStay(Loop):
    """Keeps of a truncated turn the thoughts, and not the calls behind them."""

    def model_answered(self, turn: Turn) -> Action:
        action = super().model_answered(turn)
        if isinstance(action, Fail) and turn.calls:
            before = len(self.history)
            self.append_turn(turn)
            self.history[before:] = [one for one in self.history[before:] if one.get("type") == "reasoning"]
            self.round_ends.append(len(self.history))
        return action


@breaks("next-turn-is-accepted", cells=CHAT)
class EmptyAnswersStay(Loop):
    """Keeps an empty answer as a message without content."""

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        if not turn.text and not turn.calls:
            self.history.append({"role": "assistant"})
            self.round_ends.append(len(self.history))


@breaks("next-turn-is-accepted", collateral=ANY, cells=CHAT)
class RefusedRequestsBreakOff(Loop):
    """Takes back the results when a request is refused, and not their calls."""

    def settled(self) -> list[Json]:
        said = super().settled()
        return [one for one in said if self.end is not None or one.get("role") != "tool"]


@breaks("next-turn-is-accepted", cells=CHAT)
class SuspendedCallsStayOpen(Loop):
    """Keeps the calls of a suspended run without results, also for a question that comes in place of the decisions."""

    def settled(self) -> list[Json]:
        return list(self.history) if isinstance(self.end, Suspend) else super().settled()


@breaks("next-turn-is-accepted", cells=MESSAGES)
class SignaturesAreForgotten(Loop):
    """Keeps the thoughts of a run for the next one without their signatures."""

    def settled(self) -> list[Json]:
        return [_unsigned(one) for one in super().settled()]


@breaks("next-turn-is-accepted", cells=RESPONSES)
class SourcesBecomeFiles(Loop):
    """Keeps a file that an answer names as its source as a part of that answer."""

    def settled(self) -> list[Json]:
        return [_with_files(one) for one in super().settled()]


def _with_files(item: Json) -> Json:
    if item.get("type") != "message" or not isinstance(item.get("content"), list):
        return item
    noted = [note for part in item["content"] for note in part.get("annotations") or ()]
    files = [{"type": "input_file", "file_id": note["file_id"]} for note in noted if "file_id" in note]
    return {**item, "content": [*item["content"], *files]}


def _unsigned(message: Json) -> Json:
    if not isinstance(message.get("content"), list):
        return message
    blocks = [{name: value for name, value in block.items() if name != "signature"} for block in message["content"]]
    return {**message, "content": blocks}


@breaks(
    "last-answer-is-in-the-history",
    collateral={
        **ANY,
        **ONCE,
        "resumed-run-is-in-its-conversation": "the answer of a resumed run is forgotten as well",
    },
    cells=CHAT,
)
class AnswersAreForgotten(Loop):
    """Keeps questions, calls and results for the next run, and not the answer."""

    def append_answer(self, turn: Turn) -> None:
        self.round_ends.append(len(self.history))


@breaks(
    "conversation-is-carried-once",
    collateral={
        **ANY,
        "last-answer-is-in-the-history": "it stands there twice",
        "resumed-run-is-in-its-conversation": "the answer of a resumed run stands twice as well",
    },
    cells=CHAT,
)
class AnswersStandTwice(Loop):
    """Keeps the answer of a run twice."""

    def append_answer(self, turn: Turn) -> None:
        super().append_answer(turn)
        super().append_answer(turn)


@breaks("conversation-is-carried-once", cells=MESSAGES)
class InstructionsPileUp(Loop):
    """Writes the instructions once more into the same system prompt at each further question."""

    def agent_for(
        self, agent: Agent, before: Conversation, messages: Sequence[Json], inputs: Mapping[str, Any]
    ) -> Agent:
        found = super().agent_for(agent, before, messages, inputs)
        if not before.instructions:
            return found
        again = "\n\n".join(one["content"] for one in (before.instructions[0], *before.instructions))
        return replace(found, messages=[{"role": "system", "content": again}, *messages])


@breaks(
    "conversation-is-carried-once",
    cells=CHAT,
    collateral={"resumed-run-is-in-its-conversation": "the calls of a resumed run are left out as well"},
)
class OnlyWordsAreKept(Loop):
    """Keeps what user and model have said, and neither calls nor results."""

    def settled(self) -> list[Json]:
        return [one for one in super().settled() if one["role"] != "tool" and "tool_calls" not in one]


@breaks(
    "any-conversation-goes-on",
    cells=CHAT,
    collateral={"conversation-is-carried-once": "an answer that was taken back is not carried"},
)
class AnErrorTakesAnswersBack(Loop):
    """Forgets the answers of earlier runs when a run ends in an error."""

    def settled(self) -> list[Json]:
        said = super().settled()
        if isinstance(self.end, Finish):
            return said
        return [one for one in said if one["role"] != "assistant" or "tool_calls" in one]


@breaks(
    "conversations-stay-apart",
    collateral={
        (
            "conversation-is-carried-once",
            "last-answer-is-in-the-history",
            "any-conversation-goes-on",
            "resume-obeys-each-decision",
        ): "what other conversations have said stands there too",
    },
    cells=CHAT,
)
class OneConversationForAll(Driver):
    """Goes on with the latest conversation, whichever was asked for."""

    def run(self, case: Json, emit: OnText) -> Json:
        return super().run(_of_the_one(case), emit)

    async def run_async(self, case: Json, emit: OnText) -> Json:
        return await super().run_async(_of_the_one(case), emit)


def _of_the_one(case: Json) -> Json:
    return {**case, "conversation": "the one"} if "conversation" in case else case


@breaks("conversation-is-carried-once", cells=CHAT)
class LatestConversationAlone(Driver):
    """Keeps only the conversation that has had the last run."""

    def keep(self, case: Json, conversation: Conversation) -> None:
        self._conversations.clear()
        super().keep(case, conversation)


@breaks("given-history-is-kept", cells=CHAT)
class OnlyWordsAreGiven(Loop):
    """Sends the words of a given history, and neither calls nor results."""

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        words = ({name: one[name] for name in ("role", "content")} for one in messages if one["role"] != "tool")
        return super().repair([one for one in words if one["content"] or one["role"] != "assistant"])


@breaks("given-calls-do-not-run", cells=CHAT)
class GivenCallsRun(Loop):
    """Runs the calls of a given history as if the model had just made them."""

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        given = [call for message in messages if message["role"] == "assistant" for call in message.get("calls") or ()]
        for call in given:
            if function := self.registry.get_tool(call["name"]):
                function(**call["arguments"])
        return super().repair(messages)


@breaks("given-history-is-kept", cells=CHAT)
class ResultsAreGivenTwice(Loop):
    """Sends what a turn of a given history says beside its calls as a message of its own as well."""

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        found: list[Json] = []
        for message in super().repair(messages):
            if message.get("calls") and message["content"]:
                found.append({"role": "assistant", "content": message["content"]})
            found.append(message)
        return found


@breaks("given-history-is-kept", cells=CHAT, collateral={"no-request-is-refused": "a call without a result is refused"})
class EmptyResultsAreNotGiven(Loop):
    """Leaves out the results of a given history that have no text."""

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        return [one for one in super().repair(messages) if one["content"] or one["role"] != "tool"]


@breaks("given-history-is-kept", cells=CHAT)
class AnswersAreNotGiven(Loop):
    """Sends only what users have said in a given history without calls."""

    def repair(self, messages: Sequence[Json]) -> list[Json]:
        if any("calls" in one for one in messages):
            return super().repair(messages)
        return super().repair([one for one in messages if one["role"] != "assistant"])
