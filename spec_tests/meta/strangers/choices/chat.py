"""Loops on Chat Completions whose caller chooses tools: right ones with different readings, and faulty ones."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_stream
from chat_plain import Reply
from chat_stream import StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped

FREE = (None, "auto", "none")


class ChoosingChat(StreamedChat):
    """Sends the choice until a tool has run, and then the mode `auto`."""

    asked = 0

    @property
    def called(self) -> bool:
        """Say whether a round of tools is over."""
        return len(self.history) > len(self.case["messages"])

    def choice(self) -> Any:
        """Give the caller's choice in the words of the service; None if there is none."""
        wanted = self.case["options"].get("tool_choice")
        if isinstance(wanted, dict):
            return self.named_choice(wanted["tool"])
        return wanted

    def named_choice(self, name: str) -> Any:
        return {"type": "function", "function": {"name": name}}

    def current_choice(self) -> Any:
        """Give the choice of the next request."""
        choice = self.choice()
        return "auto" if self.called and choice not in (None, "none") else choice

    def current_parallel(self) -> bool | None:
        return self.case["options"].get("parallel_calls")

    def body(self) -> Json:
        body = super().body()
        self.asked += 1
        if body.get("tools"):
            body |= self.options_of_tools()
        return body

    def options_of_tools(self) -> Json:
        found = {"tool_choice": self.current_choice(), "parallel_tool_calls": self.current_parallel()}
        return {name: value for name, value in found.items() if value is not None}


class Driver(chat_stream.Driver):
    """A right loop: a round of tools takes the choice back."""

    loop = ChoosingChat
    able: ClassVar[dict[str, bool]] = {"stream": True, "chunks": True, "tool_choice": True, "single_calls": True}


class First(Driver):
    """A right loop: the choice is that of the first request."""

    class loop(ChoosingChat):
        """Sends the choice in the first request only, and says nothing later."""

        def current_choice(self) -> Any:
            return self.choice() if self.asked == 1 or self.choice() == "none" else None


class Allowed(Driver):
    """A right loop: one allowed tool and a forced call are a named choice."""

    class loop(ChoosingChat):
        """Names a tool by the list of those that are allowed."""

        def named_choice(self, name: str) -> Any:
            only = [{"type": "function", "function": {"name": name}}]
            return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": only}}


class Offering(Driver):
    """A right loop: what is not offered cannot be called."""

    class loop(ChoosingChat):
        """Says no choice but `required`: offers the one tool that is named, and no tool where none may be called."""

        def offers(self) -> list[Json]:
            wanted = self.case["options"].get("tool_choice")
            if wanted == "none":
                return []
            if isinstance(wanted, dict) and not self.called:
                return [tool for tool in super().offers() if tool["function"]["name"] == wanted["tool"]]
            return super().offers()

        def named_choice(self, name: str) -> Any:
            return "required"


class PrefixedChat(ChoosingChat):
    """Offers each tool under a name of its own."""

    def named(self, tools: list[Json]) -> dict[str, Json]:
        return {f"mine_{name}": tool for name, tool in super().named(tools).items()}

    def named_choice(self, name: str) -> Any:
        return super().named_choice(f"mine_{name}")


class Prefixed(Driver):
    """A right loop: a choice names the tool as it is offered."""

    loop = PrefixedChat


class EachChat(ChoosingChat):
    """Sends the choice in each request."""

    def current_choice(self) -> Any:
        return self.choice()


class Each(Driver):
    """A right loop that says so: the choice holds for each request, and the limit ends the run."""

    loop = EachChat

    def start(self) -> Json:
        return super().start() | {"dialect": {"tool_choice": "every-request"}}


class Handing(Driver):
    """A right loop: a forced call is all that its caller wants, and its result is the answer."""

    class loop(EachChat):
        """Returns what a forced call gave."""

        def run(self) -> str:
            if self.choice() in FREE:
                return super().run()
            turn = self.turn(self.ask())
            self.history += [turn, *map(self.result, turn["tool_calls"])]
            return self.history[-1]["content"]


class DriverUntold(Driver):
    """Each request forces a call until the limit, and the driver does not say that this is meant."""

    loop = EachChat


class EndlessChat(EachChat):
    """Counts rounds against the limit only where the model was free."""

    def run(self) -> str:
        while True:
            try:
                return super().run()
            except Stopped as stopped:
                if stopped.word != "limit" or self.choice() in FREE:
                    raise


class DriverEndless(Driver):
    """The run never ends."""

    loop = EndlessChat


class SilentChat(EachChat):
    """Returns what the model said last when the limit ends a run of forced calls."""

    def run(self) -> str:
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = self.ask()
            self.judge(reply)
            turn = self.turn(reply)
            if not turn["tool_calls"]:
                return self.answer(reply)
            self.history += [turn, *map(self.result, turn["tool_calls"])]
        if self.choice() in FREE:
            raise Stopped("limit", "the limit of model calls is reached")
        return self.answer(reply)


class DriverSilent(Driver):
    """Its caller gets an empty answer."""

    loop = SilentChat


class DriverBare(Driver):
    """The service refuses a name in place of a choice."""

    class loop(ChoosingChat):
        """Sends the name alone."""

        def named_choice(self, name: str) -> Any:
            return name


class DriverFlat(Driver):
    """The form of Responses is none of Chat."""

    class loop(ChoosingChat):
        """Names a tool without a level between."""

        def named_choice(self, name: str) -> Any:
            return {"type": "function", "name": name}


class DriverAny(Driver):
    """The word of Messages is none of Chat."""

    class loop(ChoosingChat):
        """Forces a call with another word."""

        def choice(self) -> Any:
            return "any" if super().choice() == "required" else super().choice()


class DriverStreamedFreely(Driver):
    """The choice of a run that streams is lost."""

    class loop(ChoosingChat):
        """Sends no choice with a request for a stream."""

        def choice(self) -> Any:
            return None if self.case["stream"] else super().choice()


class DriverNothing(Driver):
    """A choice of none is taken for no choice, and the model calls."""

    class loop(ChoosingChat):
        """Leaves a choice of none out."""

        def choice(self) -> Any:
            return None if super().choice() == "none" else super().choice()


class DriverNoneOnce(Driver):
    """What is forbidden in the first round is allowed later."""

    class loop(ChoosingChat):
        """Takes every choice back when a tool has run."""

        def current_choice(self) -> Any:
            return "auto" if self.called else self.choice()


class NoneOnceDeclared(DriverNoneOnce):
    """The same where it is meant so: each choice is for the first request alone, which the driver says."""

    def start(self) -> Json:
        return super().start() | {"dialect": {"tool_choice": "first-request"}}


class DriverSome(Driver):
    """The model has to call some tool, and not the one that was named."""

    class loop(ChoosingChat):
        """Forces any call where one is named."""

        def named_choice(self, name: str) -> Any:
            return "required"


class DriverOwnName(Driver):
    """The service knows the tool by another name."""

    class loop(PrefixedChat):
        """Names the tool as its caller does."""

        def named_choice(self, name: str) -> Any:
            return ChoosingChat.named_choice(self, name)


class DriverBareParallel(Driver):
    """Without tools the service refuses the option."""

    class loop(ChoosingChat):
        """Sends the option with every request."""

        def body(self) -> Json:
            parallel = self.case["options"].get("parallel_calls")
            return super().body() | ({} if parallel is None else {"parallel_tool_calls": parallel})


class DriverBareChoice(Driver):
    """Without tools the service refuses the choice."""

    class loop(ChoosingChat):
        """Sends the choice with every request."""

        def body(self) -> Json:
            body, choice = super().body(), self.current_choice()
            return body | ({} if choice is None else {"tool_choice": choice})


class DriverParallelOnce(Driver):
    """From the second request on the model may make several calls."""

    class loop(ChoosingChat):
        """Sends the option until a tool has run."""

        def current_parallel(self) -> bool | None:
            return None if self.called else super().current_parallel()


class DriverOneRuns(Driver):
    """A second call that came all the same has no result."""

    class loop(ChoosingChat):
        """Runs one call of a turn where several are forbidden."""

        def turn(self, reply: Reply) -> Json:
            self.left = False
            return super().turn(reply)

        def result(self, call: Json) -> Json:
            if self.left and self.current_parallel() is False:
                return {"role": "user", "content": "Only one call at a time."}
            self.left = True
            return super().result(call)


class DriverParallelLost(Driver):
    """A false option is taken for none."""

    class loop(ChoosingChat):
        """Sends the option only where it is true."""

        def current_parallel(self) -> bool | None:
            return super().current_parallel() or None


class DriverFree(Driver):
    """A model that may choose has to call."""

    class loop(ChoosingChat):
        """Forces a call where the model may choose."""

        def choice(self) -> Any:
            return "required" if super().choice() == "auto" else super().choice()


class DriverChosenOnce(Driver):
    """An agent object has its choice for its first run."""

    able: ClassVar[dict[str, bool]] = {**Driver.able, "shared": True}

    class loop(ChoosingChat):
        """Takes the choice from the agent object, and for good."""

        begun: ClassVar[set[str]] = set()

        def choice(self) -> Any:
            agent = self.case.get("shared")
            return None if agent in self.begun else super().choice()

        def run(self) -> str:
            try:
                return super().run()
            finally:
                self.begun.update({self.case["shared"]} if "shared" in self.case else ())
