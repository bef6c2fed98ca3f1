"""Loops that lose or spoil the images of a tool: one fault each, as they are reported of real loops."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import base64
import copy
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from loops import Chat, Json, Messages, Parts, Responses, as_text, images, texts


class MessagesAsJson(Messages):
    """The parts are a JSON text with all of their base64."""

    def content(self, content: Any) -> Any:
        return as_text(content)


class MessagesTextOnly(Messages):
    """Only the text of a result is sent."""

    def content(self, content: Any) -> Any:
        return texts(content) if isinstance(content, Parts) else as_text(content)


class MessagesImageOnly(Messages):
    """A result with an image loses its text."""

    def content(self, content: Any) -> Any:
        return [self.block(part) for part in images(content)] or super().content(content)


class MessagesJpeg(Messages):
    """Every image is sent as JPEG."""

    def block(self, part: Any) -> Json:
        return super().block({**part, **({"media_type": "image/jpeg"} if part["type"] == "image" else {})})


class MessagesPng(Messages):
    """Every image is sent as PNG."""

    def block(self, part: Any) -> Json:
        return super().block({**part, **({"media_type": "image/png"} if part["type"] == "image" else {})})


class MessagesTextsFirst(Messages):
    """Texts come first, and images behind them."""

    def content(self, content: Any) -> Any:
        if isinstance(content, Parts):
            content = Parts(sorted(content, key=lambda part: part["type"] == "image"))
        return super().content(content)


class MessagesMixedUp(Messages):
    """The images of all results of a turn are in the first one that has any."""

    def results(self, results: list[Any]) -> list[Json]:
        found = [part for _, _, content, _ in results for part in images(content)]
        spread = []
        for id, name, content, bad in results:
            text = {"type": "text", "text": texts(content) or "seen"} if images(content) else {}
            spread.append((id, name, Parts([*found, text]) if text else content, bad))
            found = [] if text else found
        return super().results(spread)


class MessagesTextBesideWins(Messages):
    """Where one result of a turn is text, all become text."""

    def results(self, results: list[Any]) -> list[Json]:
        if any(isinstance(content, str) for _, _, content, _ in results):
            results = [
                (id, name, texts(content) if isinstance(content, Parts) else content, bad)
                for id, name, content, bad in results
            ]
        return super().results(results)


class MessagesForgets(Messages):
    """Only the latest results keep their images when the history is sent again."""

    def sent(self, history: list[Json]) -> list[Json]:
        kept = copy.deepcopy(history)
        latest = max((at for at, one in enumerate(kept) if one["role"] == "user"), default=0)
        for one in kept[:latest]:
            for block in one["content"] if one["role"] == "user" and isinstance(one["content"], list) else ():
                if isinstance(block.get("content"), list):
                    block["content"] = [part for part in block["content"] if part["type"] == "text"]
        return kept


class MessagesUnanswered(Messages):
    """A result without text is taken for none."""

    def results(self, results: list[Any]) -> list[Json]:
        return super().results([one for one in results if not isinstance(one[2], Parts) or texts(one[2])])


class MessagesBytesShown(Messages):
    """The bytes of an image are written as Python shows them."""

    def block(self, part: Any) -> Json:
        if part["type"] == "text":
            return super().block(part)
        return {"type": "text", "text": str(base64.b64decode(part["data"]))}


class ResponsesBare(Responses):
    """The URL of an image is bare base64."""

    def part(self, part: Any) -> Json:
        made = super().part(part)
        return {**made, "image_url": part["data"]} if "image_url" in made else made


class ResponsesAsJson(Responses):
    """The output is the JSON text of the right parts."""

    def content(self, content: Any) -> Any:
        return json.dumps(super().content(content)) if isinstance(content, Parts) else as_text(content)


class ResponsesTwiceEncoded(Responses):
    """The base64 of an image is encoded once more."""

    def part(self, part: Any) -> Json:
        twice = base64.b64encode(part.get("data", "").encode()).decode()
        return super().part({**part, "data": twice})


class ResponsesFirstPart(Responses):
    """Only the first part of a result is sent."""

    def content(self, content: Any) -> Any:
        return super().content(Parts(content[:1]) if isinstance(content, Parts) else content)


class ResponsesUntyped(Responses):
    """The data URL has no media type."""

    def part(self, part: Any) -> Json:
        return super().part({**part, "media_type": ""})


class ChatBetween(Chat):
    """The image of each result comes right behind it."""

    def results(self, results: list[Any]) -> list[Json]:
        return [message for one in results for message in (self.tool(one[0], one[2]), *self.behind([one]))]


class ChatInTheTool(Chat):
    """The image is in the tool's message."""

    def said(self, content: Any) -> Any:
        if not isinstance(content, Parts):
            return as_text(content)
        return [dict(part) if part["type"] == "text" else self.image(part) for part in content]

    def behind(self, results: list[Any]) -> list[Json]:
        return []


class ChatDropped(Chat):
    """The image is left out without a word."""

    def said(self, content: Any) -> Any:
        return texts(content) if isinstance(content, Parts) else as_text(content)

    def behind(self, results: list[Any]) -> list[Json]:
        return []


class ChatMarkdown(Chat):
    """The image is a data URL in the text of the tool's message."""

    def said(self, content: Any) -> Any:
        seen = [f"![image]({self.image(part)['image_url']['url']})" for part in images(content)]
        return "\n".join([super().said(content), *seen])

    def behind(self, results: list[Any]) -> list[Json]:
        return []


class ChatFirstImage(Chat):
    """Only the first image of a turn is sent."""

    def behind(self, results: list[Any]) -> list[Json]:
        return [{**one, "content": one["content"][:1]} for one in super().behind(results)]


class ChatOnce(Chat):
    """The message with the images is sent once and not kept."""

    def sent(self, history: list[Json]) -> list[Json]:
        return [one for at, one in enumerate(history) if at == len(history) - 1 or not isinstance(one["content"], list)]
