"""Images of tools that are lost, spoiled, mixed up, spelled out or forgotten: how wires write results with parts."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.approval import Decision
from looptck_reference.vocabulary.parts import is_image
from looptck_reference.vocabulary.values import Json, ToolResult
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire

REMARK = b"tEXtSoftware\0smaller"
SIGNATURE_AND_HEADER = 33
"""So many bytes of a PNG are before its second chunk."""

EACH: Collateral = {"image-is-with-its-call": "it plays images too, and judges each"}


def _images(result: ToolResult) -> list[Json]:
    return [part for part in result.parts if is_image(part)]


@breaks("image-result-reaches-the-model", collateral=EACH, cells=CHAT)
class ImagesLeftOut(ChatWire):
    """Sends the text of a result, and nothing of its images."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return super().results([replace(one, parts=()) for one in results])


@breaks("image-result-reaches-the-model", collateral=EACH, cells=RESPONSES)
class EveryImageIsJpeg(ResponsesWire):
    """Sends every image as a JPEG."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        jpeg = {"media_type": "image/jpeg"}
        return super().results(
            [replace(one, parts=[part | jpeg if is_image(part) else part for part in one.parts]) for one in results]
        )


@breaks("image-result-reaches-the-model", cells=MESSAGES)
class EveryImageIsPng(MessagesWire):
    """Sends every image as a PNG."""

    def result(self, result: ToolResult) -> Json:
        png = {"media_type": "image/png"}
        return super().result(replace(result, parts=[one | png if is_image(one) else one for one in result.parts]))


@breaks("image-arrives-unchanged", cells=MESSAGES)
class WrittenAnew(MessagesWire):
    """Writes PNG images anew, with a remark in them."""

    def result(self, result: ToolResult) -> Json:
        return super().result(replace(result, parts=[_written_anew(part) for part in result.parts]))


def _written_anew(part: Json) -> Json:
    if part.get("media_type") != "image/png":
        return part
    data, at = base64.b64decode(part["data"]), SIGNATURE_AND_HEADER
    chunk = struct.pack(">I", len(REMARK) - 4) + REMARK + struct.pack(">I", zlib.crc32(REMARK))
    return part | {"data": base64.b64encode(data[:at] + chunk + data[at:]).decode()}


@breaks("image-is-never-text", cells=CHAT)
class LinkInTheText(ChatWire):
    """Adds each image to the text of its result too, as the address of a picture in Markdown."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        links = [
            "".join(f"\n![](data:{one['media_type']};base64,{one['data']})" for one in _images(result))
            for result in results
        ]
        return super().results([replace(one, text=one.text + link) for one, link in zip(results, links, strict=True)])


@breaks("text-beside-an-image-arrives", cells=MESSAGES)
class ImageReplacesText(MessagesWire):
    """Sends of a result that has images only those."""

    def result(self, result: ToolResult) -> Json:
        return super().result(replace(result, parts=_images(result)))


@breaks("parts-keep-their-order", cells=RESPONSES)
class TextsComeFirst(ResponsesWire):
    """Sends the texts of a result before its images."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return super().results([replace(one, parts=sorted(one.parts, key=is_image)) for one in results])


@breaks("parts-keep-their-order", cells=CHAT)
class LatestImageFirst(ChatWire):
    """Sends the images of a turn in reverse order, without their headings."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        answers = super().results(results)
        for message in answers:
            if isinstance(message["content"], list):
                message["content"] = [part for part in message["content"][::-1] if part["type"] == "image_url"]
        return answers


@breaks("image-is-with-its-call", cells=MESSAGES)
class ImagesInTheFirstResult(MessagesWire):
    """Sends the images of several results in the first of them."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        seen = [result for result in results if result.parts]
        moved = [part for result in seen[1:] for part in _images(result)]
        return super().results(
            [
                replace(one, parts=[*one.parts, *moved] if one is seen[0] else [{"type": "text", "text": "Moved."}])
                if one.parts
                else one
                for one in results
            ]
        )


@breaks("image-is-with-its-call", cells=RESPONSES)
class TextBesideWins(ResponsesWire):
    """Sends all results of a turn as text if one of them is text."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        plain = any(not result.parts for result in results)
        return super().results([replace(one, parts=()) if plain else one for one in results])


@breaks("image-is-with-its-call", cells=CHAT)
class ImageBehindEach(ChatWire):
    """Sends the image of each result right behind it, before the results that follow."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return [message for result in results for message in super(ImageBehindEach, self).results([result])]


@breaks(
    "image-only-result-is-answered",
    collateral={
        "image-result-reaches-the-model": "a result may be nothing but an image",
        "image-is-with-its-call": "one of the results is nothing but an image",
    },
    cells=MESSAGES,
)
class NoTextIsNoResult(MessagesWire):
    """Sends no result for a tool that returned nothing but an image."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return super().results([one for one in results if one.text or not one.parts])


@breaks("image-stays-in-the-history", cells=MESSAGES)
class OldImagesGo(Loop):
    """Leaves out the images of all rounds but the latest, without a word."""

    def remembered(self) -> Sequence[Json]:
        *old, latest = super().remembered()
        return [*map(_without_images, old), latest]


@breaks("image-stays-in-the-history", cells=CHAT)
class ImagesAreNotInTheState(Loop):
    """Keeps of the results in the state of a suspended run the texts alone."""

    def resume(self, state: Json, decisions: Mapping[str, Decision]) -> None:
        results = [one and {**one, "parts": ()} for one in state["results"]]
        super().resume({**state, "results": results}, decisions)


def _without_images(message: Json) -> Json:
    if message.get("role") != "user" or not isinstance(message["content"], list):
        return message
    return message | {"content": [_without_image(block) for block in message["content"]]}


def _without_image(block: Json) -> Json:
    content = block.get("content")
    if not isinstance(content, list):
        return block
    return block | {"content": [part for part in content if not is_image(part)]}
