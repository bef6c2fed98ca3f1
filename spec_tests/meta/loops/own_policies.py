"""Right loops with policies of their own for failures, cut answers and what the service keeps."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from looptck.signatures import written
from looptck_mutants.parts import asking, speaking
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Ask
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import ProviderError, UnknownTool
from looptck_reference.vocabulary.values import Json, Stop, ToolResult, Turn
from looptck_reference.wires import MessagesWire, ResponsesWire


class SwitchesOff(Driver):
    """No longer offers the tool of a call that has failed, as a circuit breaker."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            failed = {one.name for one in results if one.failed}
            self.agent = replace(self.agent, tools=tuple(one for one in self.agent.tools if one.name not in failed))


class SwitchesOffTheOthers(Driver):
    """No longer offers any other tool than that of a call that has failed, so that the model tries it again."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            failed = {one.name for one in results if one.failed}
            if failed:
                self.agent = replace(self.agent, tools=tuple(one for one in self.agent.tools if one.name in failed))


class AsksAnew(Driver):
    """Asks once for a shorter answer in place of one that was cut, and returns that."""

    words = "Your answer was cut off. Do not continue it: answer again, whole, in one sentence."

    class loop(Loop):  # noqa: N801
        asked = False
        words = ""

        def model_answered(self, turn: Turn) -> Action:
            if self.asked or turn.calls or not turn.text or turn.stop is not Stop.LENGTH:
                return super().model_answered(turn)
            self.asked = True
            self.append_answer(turn)
            self.history.append({"role": "user", "content": self.words or AsksAnew.words})
            return self._enter(self.ask())


class AsksToGoOn(AsksAnew):
    """Asks in words for the rest of an answer that was cut, and returns the rest alone."""

    class loop(AsksAnew.loop):  # noqa: N801
        words = "Please continue exactly where you left off, without starting again."


class OneWordForLimits(Driver):
    """Returns an answer that was cut, and tells its caller of a limit, as at its own."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case; a cut answer has the stop reason of a limit."""
        outcome = super().run(case, emit)
        return {**outcome, "stop": "limit"} if outcome.get("stop") == "length" else outcome


class ThreeTries(Driver):
    """Sends each request that fails three times at most, whatever the reason."""

    class Runs(Exchange):
        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            for _ in range(2):
                try:
                    return (yield from super().ask(ask))
                except ProviderError:
                    continue
            return (yield from super().ask(ask))

    invoker = asking(Runs)


class ForcedTwice(Driver):
    """Forces a call once more where the tool has failed, and then lets the model answer."""

    class loop(Loop):  # noqa: N801
        again = True

        def close_round(self, results: Sequence[ToolResult]) -> Action:
            agent = self.agent
            action = super().close_round(results)
            if self.again and any(one.failed for one in results):
                self.agent, self.again = agent, False
            return action


class FunctionsAlone(Driver):
    """Takes functions whose signatures say the schema; its driver leaves out the tools that no signature says."""

    def start(self) -> Json:
        """With the word for it."""
        return {**super().start(), "dialect": {"tools": "functions"}}

    def run(self, case: Json, emit: OnText) -> Json:
        """Run the case with the tools that can be written as functions."""
        tools = [tool for tool in case["tools"] if written(tool, dict) is not None]
        return super().run({**case, "tools": tools}, emit)


class FunctionsUndeclared(FunctionsAlone):
    """Says nothing of it, so that a tool which it is given and does not offer is missed."""

    def start(self) -> Json:
        """Without the word."""
        return Driver.start(self)


class FunctionsOnceLost(FunctionsAlone):
    """Raises where the model calls a tool that it does not have; without any tool it reads no calls at all."""

    class loop(Loop):  # noqa: N801
        def model_answered(self, turn: Turn) -> Action:
            known = {tool.name for tool in self.agent.tools}
            if lost := [call.name for call in turn.calls if call.name not in known]:
                if known:
                    raise UnknownTool(lost[0])
                turn = replace(turn, calls=())
            return super().model_answered(turn)


class FunctionsLostUnsaid(FunctionsOnceLost):
    """Says nothing of it, so that the calls of what it does not offer count as lost."""

    def start(self) -> Json:
        """Without the word."""
        return Driver.start(self)


class AsksForNoReasoning(Driver):
    """Has the service store nothing and asks for no encrypted content: it is meant for models that do not reason."""

    class _Wire(ResponsesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            return {name: value for name, value in body.items() if name != "include"}

    wires = speaking(responses=_Wire())


class AsksForTheCalls(Driver):
    """Sends the request once more when a turn announces calls and has none, as if a part of the reply were lost."""

    class loop(Loop):  # noqa: N801
        asked = False

        def model_answered(self, turn: Turn) -> Action:
            if turn.calls or turn.stop is not Stop.CALLS or self.asked:
                return super().model_answered(turn)
            self.asked = True
            return self._enter(self.ask())


class ForModelsWithoutReasoning(AsksForNoReasoning):
    """Keeps nothing of reasoning either, and says for which models it is."""

    class _Wire(AsksForNoReasoning._Wire):
        def echo(self, turn: Turn) -> list[Json]:
            return [item for item in super().echo(turn) if item.get("type") != "reasoning"]

    wires = speaking(responses=_Wire())

    def start(self) -> Json:
        """The description, with the declared choice."""
        return {**super().start(), "dialect": {"models": "without-reasoning"}}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


class SendsNoNulls(Driver):
    """Sends back what the model has said as its classes write it: without members that are null, at any depth."""

    class _Wire(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [_without_nulls(item) for item in super().echo(turn)]

    class _Blocks(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [_without_nulls(item) for item in super().echo(turn)]

    wires = speaking(responses=_Wire(), messages=_Blocks())


class SaysMoreBehindTheQuestion(Driver):
    """Tells of a failure behind the words of the question too, as a history of joined texts does."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if any(one.failed for one in results):
                question = next(one for one in self.history if one["role"] == "user")
                question["content"] += "\nError: a tool has failed. Try another way."
