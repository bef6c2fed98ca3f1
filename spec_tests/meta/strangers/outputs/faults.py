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


class TextChat(FormatChat):
    """Looks whether the text fits, and hands the text out."""

    def output(self, reply: Reply, turn: Json) -> Any:
        super().output(reply, turn)
        return reply.message["content"]


class DriverText(chat.Driver):
    """Looks whether the text fits, and hands the text out."""

    loop = TextChat


class UnseenChat(FormatChat):
    """Reads the JSON and does not hold it against the schema."""

    def value(self, text: str) -> Any:
        value = self.parsed(text)
        return value["response"] if self.is_wrapped else value


class DriverUnseen(chat.Driver):
    """Reads the JSON and does not hold it against the schema."""

    loop = UnseenChat


class LenientChat(FormatChat):
    """Hands out the text where it is no JSON."""

    def refused(self, turn: Json, error: Exception) -> None:
        raise Given(turn["content"])


class Given(Exception):
    """The run ends with this text."""


class DriverLenient(chat.Driver):
    """Hands out the text where it is no JSON."""

    loop = LenientChat

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        return {"kind": "value", "text": found["message"]} if found.get("type") == "Given" else found


class MendingChat(FormatChat):
    """Closes what was cut off."""

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


class DriverMending(chat.Driver):
    """Closes what was cut off."""

    loop = MendingChat


class FirstFormatChat(FormatChat):
    """Says the format in the first request alone."""

    asked = 0

    def place(self, body: Json) -> Json:
        self.asked += 1
        return super().place(body) if self.asked == 1 else {}


class DriverFirstFormat(chat.Driver):
    """Says the format in the first request alone."""

    loop = FirstFormatChat


class AfterToolsChat(FormatChat):
    """Says the format once a tool has run."""

    def place(self, body: Json) -> Json:
        return super().place(body) if any(one["role"] == "tool" for one in body["messages"]) else {}


class DriverAfterTools(chat.Driver):
    """Says the format once a tool has run."""

    loop = AfterToolsChat


class DraftChat(FormatChat):
    """Takes any text that fits, beside calls too."""

    def calls(self, turn: Json) -> list[Json]:
        try:
            self.value(turn.get("content") or "")
        except Exception:  # noqa: BLE001 - no output
            return super().calls(turn)
        return []


class DriverDraft(chat.Driver):
    """Takes any text that fits, beside calls too."""

    loop = DraftChat


class ForcedChat(ToolChat):
    """Forces its own tool from the first request on."""

    def place(self, body: Json) -> Json:
        return super().place(body) | {"tool_choice": {"type": "function", "function": {"name": OWN}}}


class DriverForced(chat.Driver):
    """Forces its own tool from the first request on."""

    loop = ForcedChat


class AloneChat(ToolChat):
    """Offers its own tool in place of the others."""

    def place(self, body: Json) -> Json:
        return super().place({**body, "tools": []})


class DriverAlone(chat.Driver):
    """Offers its own tool in place of the others."""

    loop = AloneChat


class ToollessChat(FormatChat):
    """Leaves the tools out where there is a format."""

    def offers(self) -> list[Json]:
        return [] if self.schema is not None else super().offers()


class DriverToolless(chat.Driver):
    """Leaves the tools out where there is a format."""

    loop = ToollessChat


class OpenCallChat(ToolChat):
    """Keeps the call of the output without a result."""

    def done(self, turn: Json) -> None:
        self.remember(turn)


class DriverOpenCall(chat.Driver):
    """Keeps the call of the output without a result."""

    loop = OpenCallChat


class OpenAgainChat(ToolChat):
    """Asks again with words alone."""

    def complain(self, turn: Json, text: str) -> None:
        FormatChat.complain(self, turn, text)


class DriverOpenAgain(chat.Driver):
    """Asks again with words alone."""

    loop = OpenAgainChat


class FirstAnsweredChat(ToolChat):
    """Answers the first call of a turn that has several outputs, after asking for one."""

    def output(self, reply: Reply, turn: Json) -> Any:
        if len(self.own(turn)) > 1:
            raise ValueError("give one result")
        return super().output(reply, turn)

    def complain(self, turn: Json, text: str) -> None:
        super().complain({**turn, "tool_calls": turn["tool_calls"][:1]}, text)


class DriverFirstAnswered(chat.Driver):
    """Answers the first call of a turn that has several outputs, after asking for one."""

    loop = FirstAnsweredChat


class WrapperChat(FormatChat):
    """Hands out the object in which a list was asked for."""

    def value(self, text: str) -> Any:
        value = self.parsed(text)
        super().value(text)
        return value


class DriverWrapper(chat.Driver):
    """Hands out the object in which a list was asked for."""

    loop = WrapperChat


class SilentChat(ToolChat):
    """Ends with a text where the model calls nothing."""

    def refused(self, turn: Json, error: Exception) -> None:
        if turn["tool_calls"]:
            return super().refused(turn, error)
        raise Given(turn.get("content") or "")


class DriverSilent(DriverLenient):
    """Ends with a text where the model calls nothing."""

    loop = SilentChat


class EndlessChat(FormatChat):
    """Asks again without an end, and counts only rounds of tools."""

    def run(self) -> Json:
        self.case["options"]["limit"] = 100_000
        return super().run()

    def refused(self, turn: Json, error: Exception) -> None:
        self.left = 1
        super().refused(turn, error)


class DriverEndless(chat.Driver):
    """Asks again without an end, and counts only rounds of tools."""

    loop = EndlessChat


class EmptyChat(FormatChat):
    """Hands out an empty object once it was asked for often enough."""

    def refused(self, turn: Json, error: Exception) -> None:
        if self.left == 0:
            raise Given("")
        super().refused(turn, error)


class DriverEmpty(chat.Driver):
    """Hands out an empty object once it was asked for often enough."""

    loop = EmptyChat

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        return {"kind": "value", "text": "", "output": {}} if found.get("type") == "Given" else found


class TruthChat(FormatChat):
    """Takes an output that is empty for none."""

    def value(self, text: str) -> Any:
        value = super().value(text)
        if not value:
            raise ValueError("there is no output")
        return value


class DriverTruth(chat.Driver):
    """Takes an output that is empty for none."""

    loop = TruthChat


class RefusingChat(FormatChat):
    """Hands out the words with which the model declines."""

    def judge(self, reply: Reply) -> None:
        if reply.message.get("refusal"):
            raise Given(reply.message["refusal"])
        super().judge(reply)


class DriverRefusing(DriverLenient):
    """Hands out the words with which the model declines."""

    loop = RefusingChat


class NamesChat(FormatChat):
    """Says the names of the members and no types."""

    def wrapped(self) -> Json:
        whole = super().wrapped()
        return {**whole, "properties": {name: {} for name in whole.get("properties", {})}}

    def value(self, text: str) -> Any:
        return self.parsed(text)


class DriverNames(chat.Driver):
    """Says the names of the members and no types."""

    loop = NamesChat


def without(schema: Any, word: str) -> Any:
    """Give a schema without a keyword, at each depth."""
    if isinstance(schema, list):
        return [without(one, word) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without(one, word) for name, one in schema.items() if name != word}


class EnumlessChat(FormatChat):
    """Says no enumerations."""

    def wrapped(self) -> Json:
        return without(super().wrapped(), "enum")


class DriverEnumless(chat.Driver):
    """Says no enumerations."""

    loop = EnumlessChat


class MuteChat(FormatChat):
    """Says no descriptions."""

    def wrapped(self) -> Json:
        return without(super().wrapped(), "description")


class DriverMute(chat.Driver):
    """Says no descriptions."""

    loop = MuteChat


class ShallowChat(FormatChat):
    """Says objects within objects, and no members of them."""

    def format(self) -> Json:
        schema = self.wrapped()
        members = {
            name: {"type": one["type"]} if one.get("type") in ("object", "array") else one
            for name, one in schema.get("properties", {}).items()
        }
        return {"type": "json_schema", "json_schema": {"name": "output", "schema": {**schema, "properties": members}}}


class DriverShallow(chat.Driver):
    """Says objects within objects, and no members of them."""

    loop = ShallowChat


class OpenStrictChat(FormatChat):
    """Asks for the strict mode whatever the schema is."""

    def format(self) -> Json:
        return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": self.wrapped()}}


class DriverOpenStrict(chat.Driver):
    """Asks for the strict mode whatever the schema is."""

    loop = OpenStrictChat


class TopStrictChat(StrictChat):
    """Closes the top of a schema only."""

    def format(self) -> Json:
        top = self.wrapped()
        top = {**top, "required": list(top["properties"]), "additionalProperties": False}
        return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": top}}


class DriverTopStrict(chat.Driver):
    """Closes the top of a schema only."""

    loop = TopStrictChat


class StickyChat(ToolChat):
    """Keeps the schema of one run for all that follow."""

    kept: ClassVar[Any] = None
    schema: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schema is None:
            self.schema = type(self).kept
        type(self).kept = self.schema


class DriverSticky(chat.Driver):
    """Keeps the schema of one run for all that follow."""

    loop = StickyChat


class NumbersChat(FormatChat):
    """Makes numbers of texts that look like numbers."""

    def value(self, text: str) -> Any:
        def made(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: made(one) for name, one in value.items()}
            if isinstance(value, list):
                return [made(one) for one in value]
            return int(value) if isinstance(value, str) and value.isdecimal() else value

        return made(super().value(text))


class DriverNumbers(chat.Driver):
    """Makes numbers of texts that look like numbers."""

    loop = NumbersChat


class PlainFormatChat(FormatChat):
    """Says the format in plain requests alone."""

    def place(self, body: Json) -> Json:
        return {} if self.case["stream"] else super().place(body)


class DriverPlainFormat(chat.Driver):
    """Says the format in plain requests alone."""

    loop = PlainFormatChat


class ResultChat(FormatChat):
    """Takes the result of a tool that fits for the output."""

    def run_calls(self, turn: Json) -> None:
        super().run_calls(turn)
        try:
            raise Found(self.value(self.history[-1]["content"]))
        except ValueError:
            return


class Found(Exception):
    """The run ends with the result of a tool."""


class DriverResult(chat.Driver):
    """Takes the result of a tool that fits for the output."""

    loop = ResultChat

    def run(self, case: Json, emit: Any) -> Json:
        found = super().run(case, emit)
        if found.get("type") != "Found":
            return found
        return {"kind": "value", "text": None, "output": None}


class TitleChat(WordsChat):
    """Says the names of the members in words."""

    def prompt(self) -> list[Json]:
        names = ", ".join((self.schema or {}).get("properties", ()))
        return [{"role": "system", "content": f"Answer with JSON that has: {names}"}, *self.history]


class DriverTitle(chat.Driver):
    """Says the names of the members in words."""

    loop = TitleChat


class OneObjectChat(WordsChat):
    """Takes the text from the first brace to the first brace that closes."""

    def parsed(self, text: str) -> Any:
        begin, end = text.find("{"), text.find("}")
        return json.loads(text[begin : end + 1])


class DriverOneObject(chat.Driver):
    """Takes the text from the first brace to the first brace that closes."""

    loop = OneObjectChat


class CutCallChat(ToolChat):
    """Runs on with a call that was cut, of which what is missing is nothing."""

    def judge(self, reply: Reply) -> None:
        if reply.message.get("refusal"):
            raise Stopped("refusal", "declined")

    def value(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return {}


class DriverCutCall(chat.Driver):
    """Runs on with a call that was cut, of which what is missing is nothing."""

    loop = CutCallChat


class BareWordChat(FormatChat):
    """Names a format that there is not."""

    def format(self) -> Json:
        return {"type": "json", "schema": closed(self.wrapped())}


class DriverBareWord(chat.Driver):
    """Names a format that there is not."""

    loop = BareWordChat
