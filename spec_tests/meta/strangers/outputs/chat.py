"""Loops on Chat Completions whose caller gives a schema of the output: right ones with different readings."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jsonschema_rs import ValidationError, validate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_stream
from chat_stream import StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from chat_plain import Reply
    from service import Service

OWN = "final_result"


class FormatChat(StreamedChat):
    """Says the schema as the format of each request, and reads the text of the last turn."""

    again = 2
    """How often an output is asked for again."""
    schema: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        self.schema = self.case.get("output_schema")
        self.left = self.again

    def body(self) -> Json:
        body = super().body()
        return body if self.schema is None else body | self.place(body)

    def place(self, body: Json) -> Json:
        """Give what the request has for the output."""
        return {"response_format": self.format()}

    def format(self) -> Json:
        return {"type": "json_schema", "json_schema": {"name": "output", "schema": self.wrapped()}}

    @property
    def is_wrapped(self) -> bool:
        return self.schema is not None and self.schema.get("type") != "object"

    def wrapped(self) -> Json:
        """Give the schema as the service takes it, which is that of an object."""
        if not self.is_wrapped:
            return self.schema or {}
        defined = {"$defs": self.schema["$defs"]} if "$defs" in self.schema else {}
        return {
            "type": "object",
            "properties": {"response": self.schema},
            "required": ["response"],
            "additionalProperties": False,
            **defined,
        }

    def value(self, text: str) -> Any:
        """Read a value that fits, or raise a ValueError."""
        value = self.parsed(text)
        validate(self.wrapped(), value)
        return value["response"] if self.is_wrapped else value

    def parsed(self, text: str) -> Any:
        return json.loads(text)

    def refused(self, turn: Json, error: Exception) -> None:
        """Ask again, or stop where that was done often enough."""
        if self.left == 0:
            raise Stopped("other", f"the model gives no output that fits: {error}")
        self.left -= 1
        self.remember(turn)
        self.complain(turn, f"That is no valid output: {error}. Try again.")

    def complain(self, turn: Json, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def remember(self, turn: Json) -> None:
        if turn.get("content") or turn.get("tool_calls"):
            self.history.append({name: value for name, value in turn.items() if name != "tool_calls" or value})

    def output(self, reply: Reply, turn: Json) -> Any:
        """Give the output of a turn that calls no tools, or raise a ValueError."""
        return self.value(reply.message.get("content") or "")

    def calls(self, turn: Json) -> list[Json]:
        """Give the calls of tools."""
        return turn["tool_calls"]

    def run_calls(self, turn: Json) -> None:
        self.remember(turn)
        for call in turn["tool_calls"]:
            self.history.append(self.result(call))

    def done(self, turn: Json) -> None:
        """Keep the turn that ended the run."""
        self.remember(turn)

    def run(self) -> Json:
        """Ask until the model gives its answer."""
        for _ in range(self.case["options"].get("limit", LIMIT)):
            reply = self.ask()
            self.judge(reply)
            turn = self.turn(reply)
            if self.calls(turn):
                self.run_calls(turn)
                continue
            if self.schema is None:
                self.done(turn)
                return {"kind": "value", "text": self.answer(reply)}
            try:
                value = self.output(reply, turn)
            except (ValueError, ValidationError) as error:
                self.refused(turn, error)
                continue
            self.done(turn)
            return self.ended(value)
        raise Stopped("limit", "the limit of model calls is reached")

    def ended(self, value: Any) -> Json:
        return {"kind": "value", "text": None, "output": value}


class Driver(chat_stream.Driver):
    """A right loop: the format is in each request."""

    loop = FormatChat
    able: ClassVar[dict[str, bool]] = {"stream": True, "chunks": True, "output": True, "conversations": True}

    def __init__(self) -> None:
        self.talks: dict[str, list[Json]] = {}

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        service: Service = self.service(case)
        name = case.get("conversation", "")
        try:
            loop = self.loop(case, service, emit)
            loop.history = [*self.talks.get(name, ()), *loop.history]
            try:
                return loop.run()
            finally:
                self.talks |= {name: loop.history} if name else {}
        except Exception as error:  # noqa: BLE001 - any error is an outcome
            return failure(error)
        finally:
            service.close()


def closed(schema: Any) -> Any:
    """Give a schema as the strict mode wants it: all members required, and those that may be missing null."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    known = schema.get("properties")
    inner = {name: one if name in ("enum", "const", "required") else closed(one) for name, one in schema.items()}
    if not isinstance(known, dict):
        return inner
    needed = schema.get("required", [])
    members = {
        name: closed(one) if name in needed else {"anyOf": [closed(one), {"type": "null"}]}
        for name, one in known.items()
    }
    return {**inner, "properties": members, "required": list(known), "additionalProperties": False}


def bare(schema: Any, value: Any) -> Any:
    """Give a value without members that are null and may be missing."""
    if isinstance(value, list):
        return [bare(schema.get("items", {}), one) for one in value]
    if not isinstance(value, dict):
        return value
    known, needed = schema.get("properties", {}), schema.get("required", [])
    return {name: bare(known.get(name, {}), one) for name, one in value.items() if one is not None or name in needed}


class StrictChat(FormatChat):
    """Asks the service to hold the model to the schema, and takes null for a member that is missing."""

    def format(self) -> Json:
        schema = closed(self.wrapped())
        return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": schema}}

    def parsed(self, text: str) -> Any:
        return bare(self.wrapped(), json.loads(text))


class Strict(Driver):
    """A right loop: the service holds the model to the schema, and the loop looks all the same."""

    loop = StrictChat


class ToolChat(FormatChat):
    """Offers a tool of its own, by whose call the model gives the output, and forces a call."""

    def place(self, body: Json) -> Json:
        own = {"name": OWN, "description": "Give the final result.", "parameters": self.wrapped()}
        return {"tools": [*body.get("tools", []), {"type": "function", "function": own}], "tool_choice": "required"}

    def own(self, turn: Json) -> list[Json]:
        return [call for call in turn["tool_calls"] if call["function"]["name"] == OWN]

    def calls(self, turn: Json) -> list[Json]:
        """Give the calls of the caller's tools; beside an output none of them runs."""
        return [] if self.schema is not None and self.own(turn) else turn["tool_calls"]

    def output(self, reply: Reply, turn: Json) -> Any:
        if not self.own(turn):
            raise ValueError(f"there is no call of {OWN}")
        return self.value(self.own(turn)[0]["function"]["arguments"])

    def complain(self, turn: Json, text: str) -> None:
        self.history += [self.told(call, text) for call in turn["tool_calls"]]
        if not turn["tool_calls"]:
            super().complain(turn, text)

    def done(self, turn: Json) -> None:
        super().done(turn)
        self.history += [self.told(call, "Final result processed.") for call in turn["tool_calls"]]


class Tooled(Driver):
    """A right loop: the output is a call of its own tool, which some call is forced for."""

    loop = ToolChat


class WordsChat(FormatChat):
    """Says the schema in the system prompt, and looks for JSON in the text, with a fence around it or without."""

    def prompt(self) -> list[Json]:
        if self.schema is None:
            return super().prompt()
        words = f"Answer with JSON that fits this JSON Schema, and nothing else:\n{json.dumps(self.schema)}"
        return [{"role": "system", "content": words}, *super().prompt()]

    def place(self, body: Json) -> Json:
        return {}

    def wrapped(self) -> Json:
        return self.schema or {}

    is_wrapped = False

    def parsed(self, text: str) -> Any:
        fenced = re.fullmatch(r"\s*```(?:json)?\s*(.*?)```\s*", text, re.DOTALL)
        return json.loads(fenced[1] if fenced else text)


class Words(Driver):
    """A right loop: the schema is in the prompt."""

    loop = WordsChat


class Objects(Driver):
    """A right loop: a JSON object is the format, and the words say which."""

    class loop(WordsChat):
        """Asks for a JSON object, and says in words which."""

        def place(self, body: Json) -> Json:
            return {"response_format": {"type": "json_object"}}

        is_wrapped = FormatChat.is_wrapped
        wrapped = FormatChat.wrapped

        def prompt(self) -> list[Json]:
            if self.schema is None:
                return super().prompt()
            words = f"Answer with a JSON object that fits this schema: {json.dumps(self.wrapped())}"
            return [*super().prompt(), {"role": "system", "content": words}]


class Later(Driver):
    """A right loop: what was found out is written as an object in the end."""

    class loop(FormatChat):
        """Lets the model answer in words first, and asks for the output in a request of its own, without tools."""

        asks = False

        def body(self) -> Json:
            body = super().body()
            return {name: one for name, one in body.items() if name != "tools"} if self.asks else body

        def place(self, body: Json) -> Json:
            return super().place(body) if self.asks else {}

        def output(self, reply: Reply, turn: Json) -> Any:
            if self.asks:
                return super().output(reply, turn)
            self.asks, self.left = True, self.again + 1
            raise ValueError("it is to be written as an object")


class Once(Driver):
    """A right loop: an output that does not fit is an error for the caller."""

    class loop(FormatChat):
        """Never asks again."""

        again = 0


class Inside(Driver):
    """A right loop: the service gets the caller's schema of a list whole, in a member."""

    class loop(FormatChat):
        """Leaves the caller's definitions where they are, and judges values by the caller's schema."""

        def wrapped(self) -> Json:
            return {name: one for name, one in super().wrapped().items() if name != "$defs" or not self.is_wrapped}

        def value(self, text: str) -> Any:
            value = self.parsed(text)
            if self.is_wrapped:
                value = value["response"]
            validate(self.schema, value)
            return value


class Both(Driver):
    """A right loop: what the model calls beside its output runs."""

    class loop(ToolChat):
        """Runs the caller's tools beside an output, and then takes the output."""

        def done(self, turn: Json) -> None:
            self.remember(turn)
            for call in turn["tool_calls"]:
                mine = call["function"]["name"] == OWN
                self.history.append(self.told(call, "Taken.") if mine else self.result(call))


class ObjectsOnly(Driver):
    """A right loop: a caller who wants a list is told at once that there is none."""

    class loop(FormatChat):
        """Takes schemas of objects alone."""

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.is_wrapped:
                raise Stopped("other", "an output has to be an object")
