"""Faulty loops on Chat Completions whose caller gives a schema of the output: one slip each."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat
from chat import OWN, FormatChat, StrictChat, ToolChat, WordsChat, closed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, Stopped

if TYPE_CHECKING:
    from chat_plain import Reply


class DriverText(chat.Driver):
    """Looks whether the text fits, and hands the text out."""

    class loop(FormatChat):
        def output(self, reply: Reply, turn: Json) -> Any:
            super().output(reply, turn)
            return reply.message["content"]


class DriverUnseen(chat.Driver):
    """Reads the JSON and does not hold it against the schema."""

    class loop(FormatChat):
        def value(self, text: str) -> Any:
            value = self.parsed(text)
            return value["response"] if self.is_wrapped else value


class Given(Exception):
    """The run ends with this text."""


class DriverLenient(chat.Driver):
    """Hands out the text where it is no JSON."""

    class loop(FormatChat):
        def refused(self, turn: Json, error: Exception) -> None:
            raise Given(turn["content"])

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        return {"kind": "value", "text": found["message"]} if found.get("type") == "Given" else found


class DriverMending(chat.Driver):
    """Closes what was cut off."""

    class loop(FormatChat):
        def judge(self, reply: Reply) -> None:
            if self.schema is None or reply.reason != "length":
                super().judge(reply)

        def parsed(self, text: str) -> Any:
            for end in ("", '"', '"}', '"]}', "}", "]}", "]}]}", '"]}]}', '"}]}'):
                try:
                    return json.loads(text + end)
                except ValueError:
                    continue
            return super().parsed(text)


class DriverFirstFormat(chat.Driver):
    """Says the format in the first request alone."""

    class loop(FormatChat):
        asked = 0

        def place(self, body: Json) -> Json:
            self.asked += 1
            return super().place(body) if self.asked == 1 else {}


class DriverAfterTools(chat.Driver):
    """Says the format once a tool has run."""

    class loop(FormatChat):
        def place(self, body: Json) -> Json:
            return super().place(body) if any(one["role"] == "tool" for one in body["messages"]) else {}


class DriverDraft(chat.Driver):
    """Takes any text that fits, beside calls too."""

    class loop(FormatChat):
        def calls(self, turn: Json) -> list[Json]:
            try:
                self.value(turn.get("content") or "")
            except Exception:  # noqa: BLE001 - no output
                return super().calls(turn)
            return []


class DriverForced(chat.Driver):
    """Forces its own tool from the first request on."""

    class loop(ToolChat):
        def place(self, body: Json) -> Json:
            return super().place(body) | {"tool_choice": {"type": "function", "function": {"name": OWN}}}


class DriverAlone(chat.Driver):
    """Offers its own tool in place of the others."""

    class loop(ToolChat):
        def place(self, body: Json) -> Json:
            return super().place({**body, "tools": []})


class DriverToolless(chat.Driver):
    """Leaves the tools out where there is a format."""

    class loop(FormatChat):
        def offers(self) -> list[Json]:
            return [] if self.schema is not None else super().offers()


class DriverOpenCall(chat.Driver):
    """Keeps the call of the output without a result."""

    class loop(ToolChat):
        def done(self, turn: Json) -> None:
            self.remember(turn)


class DriverOpenAgain(chat.Driver):
    """Asks again with words alone."""

    class loop(ToolChat):
        def complain(self, turn: Json, text: str) -> None:
            FormatChat.complain(self, turn, text)


class DriverFirstAnswered(chat.Driver):
    """Answers the first call of a turn that has several outputs, after asking for one."""

    class loop(ToolChat):
        def output(self, reply: Reply, turn: Json) -> Any:
            if len(self.own(turn)) > 1:
                raise ValueError("give one result")
            return super().output(reply, turn)

        def complain(self, turn: Json, text: str) -> None:
            super().complain({**turn, "tool_calls": turn["tool_calls"][:1]}, text)


class DriverWrapper(chat.Driver):
    """Hands out the object in which a list was asked for."""

    class loop(FormatChat):
        def value(self, text: str) -> Any:
            value = self.parsed(text)
            super().value(text)
            return value


class DriverSilent(DriverLenient):
    """Ends with a text where the model calls nothing."""

    class loop(ToolChat):
        def refused(self, turn: Json, error: Exception) -> None:
            if turn["tool_calls"]:
                return super().refused(turn, error)
            raise Given(turn.get("content") or "")


class DriverEndless(chat.Driver):
    """Asks again without an end, and counts only rounds of tools."""

    class loop(FormatChat):
        def run(self) -> Json:
            self.case["options"]["limit"] = 100_000
            return super().run()

        def refused(self, turn: Json, error: Exception) -> None:
            self.left = 1
            super().refused(turn, error)


class DriverEmpty(chat.Driver):
    """Hands out an empty object once it was asked for often enough."""

    class loop(FormatChat):
        def refused(self, turn: Json, error: Exception) -> None:
            if self.left == 0:
                raise Given("")
            super().refused(turn, error)

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        return {"kind": "value", "text": "", "output": {}} if found.get("type") == "Given" else found


class DriverTruth(chat.Driver):
    """Takes an output that is empty for none."""

    class loop(FormatChat):
        def value(self, text: str) -> Any:
            value = super().value(text)
            if not value:
                raise ValueError("there is no output")
            return value


class DriverRefusing(DriverLenient):
    """Hands out the words with which the model declines."""

    class loop(FormatChat):
        def judge(self, reply: Reply) -> None:
            if reply.message.get("refusal"):
                raise Given(reply.message["refusal"])
            super().judge(reply)


class DriverNames(chat.Driver):
    """Says the names of the members and no types."""

    class loop(FormatChat):
        def wrapped(self) -> Json:
            whole = super().wrapped()
            return {**whole, "properties": {name: {} for name in whole.get("properties", {})}}

        def value(self, text: str) -> Any:
            return self.parsed(text)


def without(schema: Any, word: str) -> Any:
    """Give a schema without a keyword, at each depth."""
    if isinstance(schema, list):
        return [without(one, word) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without(one, word) for name, one in schema.items() if name != word}


class DriverEnumless(chat.Driver):
    """Says no enumerations."""

    class loop(FormatChat):
        def wrapped(self) -> Json:
            return without(super().wrapped(), "enum")


class DriverMute(chat.Driver):
    """Says no descriptions."""

    class loop(FormatChat):
        def wrapped(self) -> Json:
            return without(super().wrapped(), "description")


class DriverShallow(chat.Driver):
    """Says objects within objects, and no members of them."""

    class loop(FormatChat):
        def format(self) -> Json:
            schema = self.wrapped()
            members = {
                name: {"type": one["type"]} if one.get("type") in ("object", "array") else one
                for name, one in schema.get("properties", {}).items()
            }
            return {
                "type": "json_schema",
                "json_schema": {"name": "output", "schema": {**schema, "properties": members}},
            }


class DriverOpenStrict(chat.Driver):
    """Asks for the strict mode whatever the schema is."""

    class loop(FormatChat):
        def format(self) -> Json:
            return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": self.wrapped()}}


class DriverTopStrict(chat.Driver):
    """Closes the top of a schema only."""

    class loop(StrictChat):
        def format(self) -> Json:
            top = self.wrapped()
            top = {**top, "required": list(top["properties"]), "additionalProperties": False}
            return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": top}}


class DriverSticky(chat.Driver):
    """Keeps the schema of one run for all that follow."""

    class loop(ToolChat):
        kept: ClassVar[Any] = None
        schema: Any

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.schema is None:
                self.schema = type(self).kept
            type(self).kept = self.schema


class DriverNumbers(chat.Driver):
    """Makes numbers of texts that look like numbers."""

    class loop(FormatChat):
        def value(self, text: str) -> Any:
            def made(value: Any) -> Any:
                if isinstance(value, dict):
                    return {name: made(one) for name, one in value.items()}
                if isinstance(value, list):
                    return [made(one) for one in value]
                return int(value) if isinstance(value, str) and value.isdecimal() else value

            return made(super().value(text))


class DriverPlainFormat(chat.Driver):
    """Says the format in plain requests alone."""

    class loop(FormatChat):
        def place(self, body: Json) -> Json:
            return {} if self.case["stream"] else super().place(body)


class Found(Exception):
    """The run ends with the result of a tool."""


class DriverResult(chat.Driver):
    """Takes the result of a tool that fits for the output."""

    class loop(FormatChat):
        def run_calls(self, turn: Json) -> None:
            super().run_calls(turn)
            try:
                raise Found(self.value(self.history[-1]["content"]))
            except ValueError:
                return

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        if found.get("type") != "Found":
            return found
        return {"kind": "value", "text": None, "output": None}


class DriverTitle(chat.Driver):
    """Says the names of the members in words."""

    class loop(WordsChat):
        def prompt(self) -> list[Json]:
            names = ", ".join((self.schema or {}).get("properties", ()))
            return [{"role": "system", "content": f"Answer with JSON that has: {names}"}, *self.history]


class DriverOneObject(chat.Driver):
    """Takes the text from the first brace to the first brace that closes."""

    class loop(WordsChat):
        def parsed(self, text: str) -> Any:
            begin, end = text.find("{"), text.find("}")
            return json.loads(text[begin : end + 1])


class DriverCutCall(chat.Driver):
    """Runs on with a call that was cut, of which what is missing is nothing."""

    class loop(ToolChat):
        def judge(self, reply: Reply) -> None:
            if reply.message.get("refusal"):
                raise Stopped("refusal", "declined")

        def value(self, text: str) -> Any:
            try:
                return json.loads(text)
            except ValueError:
                return {}


class DriverBareWord(chat.Driver):
    """Names a format that there is not."""

    class loop(FormatChat):
        def format(self) -> Json:
            return {"type": "json", "schema": closed(self.wrapped())}
