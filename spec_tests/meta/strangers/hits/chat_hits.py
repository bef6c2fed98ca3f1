"""Loops on Chat with one fault each, as users of published loops have reported it."""

# mypy: disable-error-code="has-type, import-not-found, misc, no-any-return"

from __future__ import annotations

import html
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "conversations"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

import chat_plain
import chat_stream
import chat_sync
from chat_plain import Chat, Reply

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import LIMIT, Json, Stopped, read_arguments, run_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def plain_signs(value: Any) -> Any:
    """Read HTML entities in every text of a value."""
    match value:
        case str():
            return html.unescape(value)
        case dict():
            return {key: plain_signs(one) for key, one in value.items()}
        case list():
            return [plain_signs(one) for one in value]
    return value


class DriverEntities(chat_plain.Driver):
    """Entities of HTML in arguments are decoded before the tool sees them."""

    class loop(Chat):
        """One model wrote `&amp;&amp;` for `&&`, so entities are decoded for all."""

        def result(self, call: Json) -> Json:
            function = call.get("function") or {}
            try:
                raw: Any = plain_signs(read_arguments(function.get("arguments")))
            except ValueError:
                raw = function.get("arguments")
            return self.told(call, run_call(self.tools, function.get("name"), raw)[0])


class DriverRefusalBesideEmptyText(chat_plain.Driver):
    """A refusal is read only where the content is null."""

    class loop(Chat):
        """A message has a text, or else a refusal."""

        def judge(self, reply: Reply) -> None:
            message = reply.message
            if message.get("content") is not None and message.get("refusal"):
                reply = Reply({**message, "refusal": None}, reply.reason)
            super().judge(reply)


class DriverStalePrefix(chat_plain.Driver):
    """A cut text that was continued by calls still stands before the answer, rounds later."""

    class loop(Chat):
        """What was said before the token limit is put before whatever the answer is."""

        def run(self) -> str:
            prefix = ""
            for _ in range(self.case["options"].get("limit", LIMIT)):
                reply = self.ask()
                turn = self.turn(reply)
                if reply.reason == "length" and not turn["tool_calls"] and self.answer(reply):
                    prefix += self.answer(reply)
                    self.history.append({"role": "assistant", "content": self.answer(reply)})
                    self.history.append({"role": "user", "content": "Continue exactly where you stopped."})
                    continue
                self.judge(reply)
                if not turn["tool_calls"]:
                    return prefix + self.answer(reply)
                self.history.append(turn)
                self.history.extend(self.result(call) for call in turn["tool_calls"])
            raise Stopped("limit", "the limit of model calls is reached")


LONGEST = 65_536


def limited(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Hand on chunks as long as no line is longer than the buffer."""
    line = 0
    for chunk in chunks:
        head, *rest = chunk.split(b"\n")
        line += len(head)
        for one in rest:
            line = max(line, len(one)) if line > LONGEST else len(one)
        if line > LONGEST:
            raise ValueError("Chunk too big")
        yield chunk


class DriverLongLine(chat_stream.Driver):
    """An event of more than 64 KiB ends the run."""

    class loop(chat_stream.StreamedChat):
        """Reads a stream line by line with a buffer of fixed size."""

        def ask(self) -> Reply:
            if not self.case["stream"]:
                return super().ask()
            assembly = self.assembly(self.emit)
            with self.service.asked(self.body() | {"stream": True}) as response:
                for data in chat_stream.events(limited(response.iter_bytes())):
                    if data == "[DONE]":
                        break
                    try:
                        chunk = json.loads(data)
                    except ValueError as error:
                        raise Stopped("stream", f"a chunk is not JSON: {error}") from error
                    if isinstance(chunk, dict):
                        assembly.on_chunk(chunk)
            return assembly.reply()


class DriverRepeatedQuestion(chat_sync.Driver):
    """A question that equals an earlier one of its conversation is taken for a copy."""

    class run_of(chat_sync.Run):
        """Drops what was said before, word for word."""

        def __init__(self, agent: Any, case: Json, halt: Any, before: list[Json]) -> None:
            super().__init__(agent, case, halt, before)
            seen: set[tuple[str, str]] = set()
            kept: list[Json] = []
            sent: list[Json] = self.messages
            for message in sent:
                key = message["role"], str(message.get("content"))
                if message["role"] in ("user", "system") and key in seen:
                    continue
                seen.add(key)
                kept.append(message)
            self.messages = kept
