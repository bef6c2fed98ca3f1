"""Loops that are correct but work differently: in another language, with validated arguments, with their own ids."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from looptck.driver import suspended
from looptck_mutants.core.faults import Retrying
from looptck_mutants.parts import asking, speaking
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask, End, Fail, Run
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Tool, closed
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, ResponsesWire


class Validating(Driver):
    """Validates arguments against the offered schema, and answers an invalid call with an error.

    Unknown members are an error too, as with a strict model of the arguments.
    """

    class loop(Loop):  # noqa: N801  the driver's attribute
        """Validates before it runs a call."""

        def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
            step = super().prepare(call)
            if not isinstance(step, Run) or call.name not in self.tools:
                return step
            tool = self.tools[call.name]
            arguments = self.parse_arguments(call.arguments)
            wrong = _wrong(tool, {name: value for name, value in arguments.items() if name not in tool.bindings})
            return (
                step if wrong is None else ToolResult(self.answer_id(call), call.name, f"Error: {wrong}", failed=True)
            )


def _wrong(tool: Tool, arguments: Json) -> str | None:
    errors = Draft202012Validator(_strict(tool.offered)).iter_errors(arguments)
    return next((error.message for error in errors), None)


def _strict(schema: Mapping[str, Any]) -> Json:
    shut = dict(schema)
    if "properties" in shut:
        shut["properties"] = {name: _strict(one) for name, one in shut["properties"].items()}
        shut.setdefault("additionalProperties", False)
    if "items" in shut:
        shut["items"] = _strict(shut["items"])
    return shut


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(_numbers(value), ensure_ascii=False, separators=(",", ":"))


class JavaScript(Driver):
    """Has one number type, and re-encodes all JSON: echoed turns, tool arguments and tool results."""

    dialects = {name: replace(one, result_text=_text) for name, one in Driver.dialects.items()}  # noqa: RUF012

    class loop(Loop):  # noqa: N801
        """Writes numbers as `JSON.stringify` does."""

        def parse_arguments(self, text: str) -> Json:
            parsed: Json = _numbers(super().parse_arguments(text))
            return parsed

        def append_turn(self, turn: Turn) -> None:
            before = len(self.history)
            super().append_turn(turn)
            self.history[before:] = [_anew(message) for message in self.history[before:]]


def _numbers(value: Any) -> Any:
    """The value after `JSON.parse`: every number is a double, and is written as such."""
    match value:
        case bool() | None | str():
            return value
        case int() | float():
            double = float(value)
            return int(double) if math.isfinite(double) and double.is_integer() and abs(double) < 1e21 else double
        case dict():
            return {key: _numbers(inner) for key, inner in value.items()}
        case _:
            return [_numbers(inner) for inner in value]


def _anew(value: Any) -> Any:
    match value:
        case {"type": "mcp_call"}:
            return value
        case dict():
            return {
                key: _rewritten(inner) if key == "arguments" and isinstance(inner, str) else _anew(inner)
                for key, inner in value.items()
            }
        case list():
            return [_anew(inner) for inner in value]
        case bool() | None | str():
            return value
        case _:
            return _numbers(value)


def _rewritten(arguments: Any) -> Any:
    """The text of arguments, parsed and encoded again; unchanged if it is not JSON."""
    try:
        return _text(json.loads(arguments)) if arguments.strip() else arguments
    except ValueError:
        return arguments


class Escaping(Driver):
    """Encodes structured results as ASCII JSON."""

    dialects = {  # noqa: RUF012
        name: replace(one, result_text=lambda value: value if isinstance(value, str) else json.dumps(value))
        for name, one in Driver.dialects.items()
    }


class AnswersAsTheyEnd(Driver):
    """Sends the results of a turn in the order in which its tools end: backwards in every second turn."""

    class loop(Loop):  # noqa: N801
        turns = itertools.count()

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[::-1] if next(self.turns) % 2 else results)


class AsksOneAtATime(Driver):
    """Suspends a run for one call at a time, until all that wait are decided."""

    def run(self, case: Json, emit: OnText) -> Json:
        """Run a case, or hand out the next call that waits."""
        if "resume" not in case:
            return _first_of(super().run(case, emit))
        state, decisions = case["resume"]["state"], case["resume"]["decisions"]
        held = {**state, "decisions": [*state["decisions"], *decisions]}
        if held["calls"]:
            return {**suspended({**held, "calls": held["calls"][1:]}, held["calls"][:1])}
        resume = {"state": held["state"], "decisions": held["decisions"]}
        return _first_of(super().run({**case, "resume": resume}, emit))


def _first_of(outcome: Json) -> Json:
    if outcome["kind"] != "suspended":
        return outcome
    first, *others = outcome["calls"]
    return {**suspended({"state": outcome["state"], "calls": others, "decisions": []}, [first])}


class Renaming(Driver):
    """Replaces the id of each call, and echoes and answers the call with the new id."""

    class loop(Loop):  # noqa: N801
        """Assigns ids by position, because a turn may have the same id twice."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.numbers = itertools.count(1)

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda _: f"call_own_{next(self.numbers)}"))


class Prefixing(Driver):
    """Prefixes all ids of calls and results with `call_`."""

    class loop(Loop):  # noqa: N801
        """Adds the prefix before any other step."""

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda own: f"call_{own}"))


class FreshTwins(Driver):
    """Gives the second of two calls with the same id a new id, consistently."""

    class loop(Loop):  # noqa: N801
        """Remembers the ids of the turn."""

        def model_answered(self, turn: Turn) -> Any:
            seen: set[str] = set()

            def own(id: str) -> str:
                fresh = id if id not in seen else f"{id}_{len(seen)}"
                seen.add(fresh)
                return fresh

            return super().model_answered(with_ids(turn, own))


def with_ids(turn: Turn, own: Callable[[str], str]) -> Turn:
    """The turn with changed call ids, also in the wire's own content."""
    ids = [own(call.id) for call in turn.calls]
    left = iter(ids)
    content = tuple(_piece(piece, left) for piece in turn.content)
    return replace(turn, calls=tuple(map(_called, turn.calls, ids)), content=content)


def _called(call: ToolCall, id: str) -> ToolCall:
    return replace(call, id=id)


def _piece(piece: Json, ids: Iterator[str]) -> Json:
    match piece.get("type"):
        case "tool_use":
            return {**piece, "id": next(ids)}
        case "function_call":
            return {**piece, "call_id": next(ids)}
        case _:
            return piece


class ReferringWire(ResponsesWire):
    """Sends stored items back as references to their ids."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"type": "item_reference", "id": item["id"]} if item.get("id") else item for item in super().echo(turn)]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if name not in {"store", "include"}}


class LoneTextWire(ResponsesWire):
    """Sends the system prompt as instructions, and a question that then stands alone as a text, later as a message."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        first, *rest = history
        body = super().request(agent, rest, stream=stream) | {"instructions": first["content"]}
        return body | {"input": rest[0]["content"]} if len(rest) == 1 else body


class SaysALoneText(Driver):
    """Says a question that stands alone in the shorter of the two forms that the Responses API has for it."""

    wires = speaking(responses=LoneTextWire())


class Referring(Driver):
    """Lets the service store its responses, and refers to them."""

    wires = speaking(responses=ReferringWire())


class ThinksByName(Driver):
    """Sends reasoning back only to models whose names it knows as reasoning models, as two frameworks do."""

    class Responses(ResponsesWire):
        """Leaves out reasoning when it sends, whoever has heard it."""

        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            reasons = agent.model.startswith(("o3", "o4-mini", "gpt-5"))
            kept = [item for item in history if reasons or item.get("type") != "reasoning"]
            return super().request(agent, kept, stream=stream)

    wires = speaking(responses=Responses())


class AsksAnotherModel(Driver):
    """Asks another model at once if the service refuses a request, as gateways with fallbacks do."""

    class Falling(Retrying):
        """Names the other model in the second attempt."""

        def again(self, ask: Ask) -> Ask:
            return replace(ask, carried={**ask.carried, "model": "looptck-other"})

    invoker = asking(Falling)


class CallsLast(Driver):
    """Moves calls to the end of their turn, because of a refusal of the service (vercel/ai#13013)."""

    class loop(Loop):  # noqa: N801
        """Keeps the order of calls, and the order of all other parts."""

        def append_turn(self, turn: Turn) -> None:
            ordered = sorted(turn.content, key=lambda piece: piece.get("type") == "tool_use")
            super().append_turn(replace(turn, content=tuple(ordered)))


class TalkativeWire(ChatWire):
    """Adds a sentence to the prompt, and closes all schemas as strict mode requires."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        return [
            {**message, "content": f"{message['content']}\n\nThink step by step."}
            if message["role"] == "system"
            else message
            for message in super().opening(messages)
        ]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        for tool in body.get("tools", ()):
            open_object = tool["function"]["parameters"].get("additionalProperties") is True
            tool["function"]["parameters"] = (
                tool["function"]["parameters"] if open_object else closed(tool["function"]["parameters"])
            )
        return body


class Talkative(Driver):
    """Adds its own sentence to the prompt, and closes schemas as an SDK does."""

    wires = speaking(chat=TalkativeWire())


class _WithPrefix(Agent):
    """An agent whose tools are offered under names with a prefix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "offered", {f"k_{name}"[:64]: tool for name, tool in self.offered.items()})


class OffersWithPrefix(Driver):
    """Offers its tools under names with a prefix, as those of a server or a plugin, and knows them by these names."""

    def agent_of(self, case: Json) -> Agent:
        agent = super().agent_of(case)
        if isinstance(agent, _WithPrefix):
            return agent
        made = _WithPrefix(**{one.name: getattr(agent, one.name) for one in fields(agent) if one.init})
        if "shared" in case:
            self._agents[case["shared"]] = made
        return made


class WrapsResults(Driver):
    """Wraps what a tool returns in an object, as frameworks do whose results have to be objects."""

    class loop(Loop):  # noqa: N801
        """Wraps each text."""

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            if isinstance(made, Fail) or made.failed or made.text.startswith("{"):
                return made
            return replace(made, text=json.dumps({"result": made.text}))


class SaysAroundResults(Driver):
    """Says around each result where it comes from, and has words for a tool that returned nothing but blanks."""

    class loop(Loop):  # noqa: N801
        """Marks what a tool returned as nobody's instructions."""

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            if isinstance(made, Fail) or made.failed:
                return made
            text = (
                f'<output of="{call.name}" trust="none">\n{made.text}\n</output>'
                if made.text.strip()
                else "(no output)"
            )
            return replace(made, text=text)


ASKS_FOR_A_TITLE = "Write a title of five words for what follows."
_TITLES: dict[str, tuple[str, Callable[[str], Json]]] = {
    "openai-chat": (
        "/chat/completions",
        lambda text: {"messages": [{"role": "system", "content": ASKS_FOR_A_TITLE}, {"role": "user", "content": text}]},
    ),
    "openai-responses": ("/responses", lambda text: {"instructions": ASKS_FOR_A_TITLE, "input": text, "store": False}),
    "anthropic-messages": (
        "/messages",
        lambda text: {"max_tokens": 20, "system": ASKS_FOR_A_TITLE, "messages": [{"role": "user", "content": text}]},
    ),
}
_TITLER = httpx.Client(headers={"x-api-key": "k", "anthropic-version": "2023-06-01"})


class AsksForATitle(Driver):
    """Asks for a title before a conversation with tools begins, without tools and with a prompt of its own."""

    def run(self, case: Json, emit: OnText) -> Json:
        messages = case.get("messages") or [{"role": "user", "content": ""}]
        if case["tools"] and (messages[0]["role"] == "system" or "agents" in case):
            path, body = _TITLES[case["wire"]]
            asked = {"model": case["model"], **body(messages[-1]["content"])}
            _TITLER.post(case["base_url"] + path, json=asked)
        return super().run(case, emit)


def together(name: str, *ways: type[Driver]) -> type[Driver]:
    """A driver of this module that has several ways at once; of its loops, each step goes through all."""
    loops = tuple(way.loop for way in ways if way.loop is not Driver.loop)
    own = {"loop": type("loop", loops, {})} if len(loops) > 1 else {}
    return type(name, ways, {"__module__": __name__, **own})


UnderOwnNames = together(
    "UnderOwnNames", OffersWithPrefix, Validating, SaysAroundResults, Escaping, Renaming, AsksForATitle
)
InAnotherLanguage = together("InAnotherLanguage", JavaScript, Prefixing, FreshTwins, WrapsResults)
RefersAsTheyEnd = together("RefersAsTheyEnd", Referring, AnswersAsTheyEnd)
CallsLastAsTheyEnd = together("CallsLastAsTheyEnd", CallsLast, AnswersAsTheyEnd)
TalksAsTheyEnd = together("TalksAsTheyEnd", Talkative, AnswersAsTheyEnd)
PrefixesInAnotherLanguage = together("PrefixesInAnotherLanguage", Validating, JavaScript, Prefixing)
