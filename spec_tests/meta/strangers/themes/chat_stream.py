"""No fault: a loop on Chat Completions with streamed replies, whose pieces are handed to callbacks."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
from chat_plain import Chat, Reply

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, Stopped, as_text, events

if TYPE_CHECKING:
    from collections.abc import Callable

OWN = ("role", "tool_calls", "function_call")


class Assembly:
    """Puts a message together: each `on_…` is called with one kind of piece."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self.emit = emit
        self.members: Json = {}
        self.calls: list[Json] = []
        self.slots: dict[Any, Json] = {}
        self.reason = ""

    def on_chunk(self, chunk: Json) -> None:
        if chunk.get("error"):
            raise Stopped("provider", str(chunk["error"]))
        self.on_usage(chunk)
        for choice in (chunk.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            for name, piece in delta.items():
                if piece is not None and name not in OWN:
                    self.on_member(name, piece)
            for piece in delta.get("tool_calls") or []:
                self.on_call_piece(piece)
            if choice.get("finish_reason"):
                self.on_finish(choice["finish_reason"])

    def on_usage(self, chunk: Json) -> None:
        """Usage is of no use here."""

    def on_member(self, name: str, piece: Any) -> None:
        """Join texts and lists; of all else the latest counts."""
        before = self.members.get(name)
        joins = type(before) is type(piece) and isinstance(piece, str | list)
        self.members[name] = before + piece if joins else piece
        if name == "content" and piece:
            self.emit(piece)

    def on_call_piece(self, piece: Json) -> None:
        call = self.call_of(piece)
        call["id"] = call["id"] or piece.get("id") or ""
        call["type"] = piece.get("type") or call["type"]
        for name, value in piece.items():
            if name in ("function", "custom"):
                self.on_function(call.setdefault(name, {"name": ""}), value or {})
            elif value is not None and name not in ("index", "id", "type"):
                self.on_extra(call, name, value)

    def call_of(self, piece: Json) -> Json:
        """Find the call of a piece; another id in the same place begins another call."""
        slot, id = piece.get("index"), piece.get("id")
        call = self.slots.get(slot)
        if call and id and call["id"] and call["id"] != id:
            call = next((one for one in self.calls if one["id"] == id), None) if slot is None else None
        if call is None:
            call = {"id": "", "type": "function"}
            self.calls.append(call)
        self.slots[slot] = call
        return call

    def on_function(self, function: Json, piece: Json) -> None:
        if piece.get("name"):
            self.on_name(function, piece["name"])
        for name in ("arguments", "input"):
            if piece.get(name) is not None:
                text = piece[name] if isinstance(piece[name], str) else json.dumps(piece[name])
                function[name] = self.joined(function.get(name, ""), text)

    def on_name(self, function: Json, name: str) -> None:
        """Join a name in pieces; the same name once more says nothing."""
        if name != function["name"]:
            function["name"] += name

    def joined(self, before: str, text: str) -> str:
        """Join arguments; an empty object before the real one was a placeholder."""
        return text if before == "{}" and text.lstrip().startswith("{") else before + text

    def on_extra(self, call: Json, name: str, value: Any) -> None:
        call[name] = value

    def on_finish(self, reason: str) -> None:
        self.reason = self.reason or reason

    def reply(self) -> Reply:
        """Give the whole reply when the stream has ended."""
        if not self.reason:
            raise Stopped("stream", "the stream ended without a finish reason")
        texts = {name: as_text(piece) if isinstance(piece, str) else piece for name, piece in self.members.items()}
        return Reply(texts | {"tool_calls": self.calls}, self.reason)


class StreamedChat(Chat):
    """A run whose replies are streams, where the case wants them."""

    assembly: ClassVar[type[Assembly]] = Assembly

    def ask(self) -> Reply:
        """Ask the model once, and listen to the end."""
        if not self.case["stream"]:
            return super().ask()
        assembly = self.assembly(self.emit)
        with self.service.asked(self.body() | {"stream": True}) as response:
            for data in events(response.iter_bytes()):
                if data == "[DONE]":
                    break
                try:
                    chunk = json.loads(data)
                except ValueError as error:
                    raise Stopped("stream", f"a chunk is not JSON: {error}") from error
                if isinstance(chunk, dict):
                    assembly.on_chunk(chunk)
        return assembly.reply()


class Driver(chat_plain.Driver):
    """Streams each case."""

    loop = StreamedChat
    able: ClassVar[dict[str, bool]] = {"stream": True, "chunks": True}
