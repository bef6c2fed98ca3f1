"""No fault: a loop on Chat Completions that forces a call in each request, and ends only by its own answer tool."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_stream
from chat_plain import Reply
from chat_stream import StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, read_arguments, run_call

ANSWER, ARGUMENT = "final_answer", "answer"
OFFER: Json = {
    "type": "function",
    "function": {
        "name": ANSWER,
        "description": "Gives the final answer to the user's request.",
        "parameters": {
            "type": "object",
            "properties": {ARGUMENT: {"type": "string", "description": "The answer."}},
            "required": [ARGUMENT],
            "additionalProperties": False,
        },
    },
}
NUDGE: Json = {"role": "user", "content": f"Call a tool, or give your answer with {ANSWER}."}


class AnsweringChat(StreamedChat):
    """Asks until the model calls the answer tool."""

    def offers(self) -> list[Json]:
        return [*super().offers(), OFFER]

    def body(self) -> Json:
        return super().body() | {"tool_choice": "required"}

    def given(self, call: Json) -> str:
        """Read the answer in a call of the answer tool. Raises ValueError if there is none."""
        answer = read_arguments(call["function"].get("arguments")).get(ARGUMENT)
        if not isinstance(answer, str):
            raise ValueError(f"the argument {ARGUMENT} is not a text")  # noqa: TRY004
        return answer

    def result(self, call: Json) -> Json:
        """Run a call, or say what is wrong with an answer."""
        function = call.get("function") or {}
        if function.get("name") != ANSWER:
            return self.told(call, run_call(self.tools, function.get("name"), function.get("arguments"))[0])
        try:
            self.given(call)
        except ValueError as error:
            return self.told(call, f"Error: the answer cannot be read: {error}")
        return self.told(call, "The answer was given.")

    def answers(self, calls: list[Json]) -> list[str]:
        """Give the answers among calls whose results are there."""
        found = []
        for call in calls:
            if (call.get("function") or {}).get("name") == ANSWER:
                try:
                    found.append(self.given(call))
                except ValueError:
                    continue
        return found

    def run(self) -> str:
        """Ask until the model calls the answer tool; calls beside it run first."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = self.ask()
            self.judge(reply)
            turn = self.turn(reply)
            if not turn["tool_calls"]:
                said = {name: value for name, value in turn.items() if name != "tool_calls"}
                self.history += [said, NUDGE] if said.get("content") else [NUDGE]
                continue
            self.history += [turn, *map(self.result, turn["tool_calls"])]
            if answers := self.answers(turn["tool_calls"]):
                return answers[0]
        raise Stopped("limit", "the limit of model calls is reached")


class Driver(chat_stream.Driver):
    """Declares the answer tool."""

    loop = AnsweringChat
    able: ClassVar[dict[str, bool]] = {"stream": True}

    def start(self) -> Json:
        return super().start() | {"answer": {"tool": ANSWER, "argument": ARGUMENT}}


class EarlyChat(AnsweringChat):
    """Runs no call beside an answer."""

    def turn(self, reply: Reply) -> Json:
        turn = super().turn(reply)
        answered = bool(self.answers(turn["tool_calls"]))
        self.left = [call for call in turn["tool_calls"] if answered and call["function"].get("name") != ANSWER]
        return turn

    def result(self, call: Json) -> Json:
        return self.told(call, "Not run: the answer was given.") if call in self.left else super().result(call)


class Early(Driver):
    """A right loop: the answer ends the run, and what the model calls beside it is not run."""

    loop = EarlyChat


class AgainChat(AnsweringChat):
    """Runs nothing of a turn that was cut, and asks for its calls, or the answer, once more."""

    def judge(self, reply: Reply) -> None:
        self.cut = reply.reason == "length"
        if not self.cut:
            super().judge(reply)

    def given(self, call: Json) -> str:
        if self.cut:
            raise ValueError("it was cut")
        return super().given(call)

    def result(self, call: Json) -> Json:
        if self.cut and (call.get("function") or {}).get("name") != ANSWER:
            return self.told(call, "Error: not run, as this turn was cut. Call again.")
        return super().result(call)


class Again(Driver):
    """A right loop: a cut turn goes back, and the model says all of the answer in another call of the answer tool."""

    loop = AgainChat


class InOrder(Driver):
    """A right loop: calls run in their order until the answer comes."""

    class loop(EarlyChat):
        """Runs the calls that stand before an answer, and none behind it."""

        def turn(self, reply: Reply) -> Json:
            turn = super().turn(reply)
            names = [call["function"].get("name") for call in turn["tool_calls"]]
            self.left = self.left and turn["tool_calls"][names.index(ANSWER) + 1 :]
            return turn


class Later(Driver):
    """A right loop: an answer beside calls is too early, since the model has not seen their results."""

    class loop(AnsweringChat):
        """Takes no answer that has calls beside it."""

        def answers(self, calls: list[Json]) -> list[str]:
            return super().answers(calls) if len(calls) == 1 else []


class Chosen(Driver):
    """A right loop: a choice among the tools of its caller leaves room for its own."""

    class loop(AnsweringChat):
        """Sends the choice of its caller in the first round, and where no tool may be called names its own."""

        def body(self) -> Json:
            body, wanted = super().body(), self.case["options"].get("tool_choice")
            name = (
                wanted["tool"] if isinstance(wanted, dict) and len(self.history) == len(self.case["messages"]) else None
            )
            if name or wanted == "none":
                body["tool_choice"] = {"type": "function", "function": {"name": name or ANSWER}}
            return body

    able: ClassVar[dict[str, bool]] = {"stream": True, "tool_choice": True}


class Undeclared(Driver):
    """The same loop, whose driver does not say that it takes no text for an answer."""

    def start(self) -> Json:
        return {name: value for name, value in super().start().items() if name != "answer"}


class ForcedChat(StreamedChat):
    """Forces a call in each request, without an answer tool."""

    def body(self) -> Json:
        body = super().body()
        return body | {"tool_choice": "required"} if body.get("tools") else body


class DriverForced(chat_stream.Driver):
    """No model that obeys can ever answer it."""

    loop = ForcedChat


class DriverJson(Driver):
    """Its caller gets JSON in place of an answer."""

    class loop(AnsweringChat):
        """Returns the arguments of the answer tool as they came."""

        def given(self, call: Json) -> str:
            super().given(call)
            return call["function"]["arguments"]


class DriverLosing(Driver):
    """Its caller gets a word of the loop in place of an answer."""

    class loop(AnsweringChat):
        """Returns what the last tool has returned."""

        def run(self) -> str:
            super().run()
            return self.history[-1]["content"]


class DriverUntold(Driver):
    """A limit that was reached looks like an answer."""

    class loop(AnsweringChat):
        """At the limit returns whatever text was last there."""

        def run(self) -> str:
            try:
                return super().run()
            except Stopped as stopped:
                if stopped.word != "limit":
                    raise
                return "I have no answer."


class DriverCut(Driver):
    """Half of an answer looks like a whole one."""

    class loop(AnsweringChat):
        """Takes an answer that was cut for a whole one, since its arguments can be mended."""

        def judge(self, reply: object) -> None:
            """Take any turn for a whole one."""

        def given(self, call: Json) -> str:
            arguments = call["function"].get("arguments") or ""
            for end in ("", '"}'):
                try:
                    answer = read_arguments(arguments + end).get(ARGUMENT)
                except ValueError:
                    continue
                if isinstance(answer, str):
                    return answer
            raise ValueError("the arguments cannot be mended")


class SiblingsChat(AnsweringChat):
    """Returns at the first answer, and lets the calls beside it run on in a thread."""

    def result(self, call: Json) -> Json:
        if (call.get("function") or {}).get("name") == ANSWER or not self.answers(self.turn_of_now):
            return super().result(call)
        self.later.append(call)
        return self.told(call, "It runs.")

    def turn(self, reply: Reply) -> Json:
        turn = super().turn(reply)
        self.turn_of_now: list[Json] = turn["tool_calls"]
        self.later: list[Json] = []
        return turn

    def run(self) -> str:
        answer = super().run()
        threading.Thread(target=lambda: [*map(super(SiblingsChat, self).result, self.later)]).start()
        return answer


class DriverSiblings(Driver):
    """Tools run although the caller has the answer."""

    loop = SiblingsChat
