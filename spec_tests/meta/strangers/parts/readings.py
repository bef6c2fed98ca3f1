"""Right loops that send the images of a tool in other ways than the bases."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import base64
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from loops import Chat, Json, Messages, Parts, Responses, as_text, images, texts


class MessagesBehind(Messages):
    """Each result is text that names its images, which follow behind all results under their names."""

    def content(self, content: Any) -> Any:
        names = "".join(f"See file {part['data'][-16:]}. " for part in images(content))
        return names + (texts(content) if isinstance(content, Parts) else as_text(content))

    def results(self, results: list[Any]) -> list[Json]:
        [message] = super().results(results)
        for _, _, content, _ in results:
            for part in images(content):
                heading = {"type": "text", "text": f"This is file {part['data'][-16:]}:"}
                message["content"] += [heading, self.block(part)]
        return [message]


class MessagesEnds(Messages):
    """A tool that raises ends the run."""

    def ran(self, function: Any, told: Json) -> tuple[Any, bool]:
        return function(**told), False


class MessagesCaptions(Messages):
    """Every image has a caption of the loop's own before it."""

    def content(self, content: Any) -> Any:
        if not isinstance(content, Parts):
            return as_text(content)
        captioned = []
        for part in content:
            captioned += [*([{"type": "text", "text": "[image]"}] if part["type"] == "image" else []), self.block(part)]
        return captioned


class MessagesWrittenAnew(Messages):
    """PNG images are written anew, with a remark in the file, as one that makes them smaller does."""

    def block(self, part: Any) -> Json:
        if part.get("media_type") != "image/png":
            return super().block(part)
        data, remark = base64.b64decode(part["data"]), b"tEXtSoftware\0smaller"
        chunk = struct.pack(">I", len(remark) - 4) + remark + struct.pack(">I", zlib.crc32(remark))
        return super().block({**part, "data": base64.b64encode(data[:33] + chunk + data[33:]).decode()})


class MessagesUploaded(Messages):
    """Images are put on a server of the loop's own, and sent as their addresses."""

    def block(self, part: Any) -> Json:
        if part["type"] == "text":
            return dict(part)
        return {"type": "image", "source": {"type": "url", "url": "https://files.example/7f31.png"}}


class ResponsesBehind(Responses):
    """Images come in a message of the user behind all outputs."""

    def content(self, content: Any) -> Any:
        return texts(content) or "The image is below." if isinstance(content, Parts) else as_text(content)

    def results(self, results: list[Any]) -> list[Json]:
        shown = [self.part(part) for _, _, content, _ in results for part in images(content)]
        heading = {"type": "input_text", "text": "What the tools have shown:"}
        return [*super().results(results), *([{"role": "user", "content": [heading, *shown]}] if shown else [])]


class ResponsesStored(Responses):
    """The service keeps what was said: a request names the reply before it, and has only what is new."""

    def echo(self, reply: Json) -> list[Json]:
        return [{"reply": reply["id"]}]

    def body(self, case: Any, history: list[Json]) -> Json:
        at = max((at for at, one in enumerate(history) if "reply" in one), default=-1)
        body = super().body(case, history[at + 1 :])
        before = {"previous_response_id": history[at]["reply"]} if at >= 0 else {}
        return {**body, **before, "store": True}


class ChatNamed(Chat):
    """Images come in messages of their own behind the results, the latest first, each under the id of its call."""

    def behind(self, results: list[Any]) -> list[Json]:
        return [
            {"role": "user", "content": [{"type": "text", "text": f"Image from {name} ({id}):"}, self.image(part)]}
            for id, name, content, _ in reversed(results)
            for part in images(content)
        ]


class ChatTold(Chat):
    """The model is told that an image cannot be sent to it here."""

    def said(self, content: Any) -> Any:
        if not isinstance(content, Parts):
            return as_text(content)
        note = "[The tool has returned an image, which this service takes from a user only.]"
        return "\n".join([texts(content), *[note for _ in images(content)]])

    def behind(self, results: list[Any]) -> list[Json]:
        return []


class ChatRefuses(Chat):
    """The caller is told that this service takes no image from a tool."""

    def said(self, content: Any) -> Any:
        if images(content):
            raise NotImplementedError("Chat Completions takes no image from a tool")
        return super().said(content)
