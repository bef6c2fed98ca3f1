"""What a tool returns if that is more than a value: texts and images, in order."""

from __future__ import annotations

from looptck_reference.vocabulary.values import Json

__all__ = ["Parts", "is_image"]


class Parts(list[Json]):
    """The parts: `{"type": "text", "text": …}` or `{"type": "image", "media_type": …, "data": its bytes in base64}`."""

    @property
    def text(self) -> str:
        """The texts among the parts, each on lines of its own."""
        return "\n".join(part["text"] for part in self if not is_image(part))


def is_image(part: Json) -> bool:
    """Whether a part is an image, and not text."""
    return bool(part["type"] == "image")
