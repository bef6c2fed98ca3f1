"""The texts and images in a list of parts, whatever the wire calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looptck.values.images import Part, Shown


def parts_of(content: object, image: Callable[[dict[str, Any]], Shown | None]) -> tuple[Part, ...]:
    """The texts and images of a list of parts, in order; nothing if there is no image.

    ``image``: the image that a part is, on this wire.
    """
    found: list[Part] = []
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        shown = image(part)
        if shown is not None:
            found.append(shown)
        elif isinstance(text := part.get("text"), str):
            found.append(text)
    return tuple(found) if any(isinstance(one, Shown) for one in found) else ()
