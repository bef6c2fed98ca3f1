"""Images that tools return, as the next request carries them, and the questions that the checks ask about them.

An image is with its call if it is in the call's result, or in a message of the user behind all results of the turn. A
loop may write an image anew, as one that makes it smaller does. On Chat Completions no result takes an image, so a loop
may also say there, in place of an image, that it was left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from looptck.bench.run import Run
from looptck.spec.conversing import accepted
from looptck.values.frozen import dataclass
from looptck.values.history import Answered, Item, Said
from looptck.values.images import Image, Shown, gif, media_type_of, png, spelled_out
from looptck.values.outcome import Failed
from looptck.values.plain import MOST, begun, plain
from looptck.values.transcript import Received
from looptck.values.verdicts import NotApplicable

IMAGES = (*map(png, ("red", "green", "blue")), *map(gif, ("red", "green", "blue")))
"""All images that a check may use."""
RED, BLUE = png("red"), png("blue")
CHAT = "openai-chat"
NAMES = re.compile(r"image|picture|photo|media|modal|attach|binary|vision|content|\bfile", re.IGNORECASE)
"""Words for what was left out."""
LEAVES_OUT = re.compile(
    r"\bnot?\b|n't|cannot|unable|unsupport|omit|remov|left out|drop|strip|discard|exclud|without|\bonly\b",
    re.IGNORECASE,
)
"""Words in which a loop says that it leaves something out."""
PROMISES = re.compile(r"follow|below|behind|next message|attached|\bsee\b|\bhere is\b", re.IGNORECASE)
"""Words that say of an image that it is there."""


@dataclass(frozen=True, slots=True)
class Place:
    """An image in a request."""

    shown: Shown
    call: str | None
    """The id of the call whose result it is in; None: it is in a message of the user."""
    before: str
    """The text before it in that result or message, or in the item before."""
    pointer: str

    def is_of(self, image: Image) -> bool:
        """Whether it has the bytes of this image."""
        return self.shown.data == image.data

    @property
    def is_written_anew(self) -> bool:
        """Whether it is a whole image under its own media type, and none of those that the tools have returned."""
        data = self.shown.data
        if data is None or any(self.is_of(one) for one in IMAGES):
            return False
        return media_type_of(data) == self.shown.media_type.lower()

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is sent as its address, or as the id of a file."""
        return self.shown.is_elsewhere


def places_in(items: Sequence[Item]) -> list[Place]:
    """The images of a request, in order."""
    found: list[Place] = []
    before = ""
    for item in items:
        if not isinstance(item, Answered | Said):
            before = ""
            continue
        call = item.id if isinstance(item, Answered) else None
        for part in item.parts or (item.text,):
            if isinstance(part, Shown):
                found.append(Place(part, call, before, item.pointer))
            before = part if isinstance(part, str) else before
    return found


def asked(run: Run, n: int) -> Received:
    """Request ``n``.

    Raises:
        NotReached: there is no such request.
        NotApplicable: the loop has told its caller that this wire takes no image.
    """
    outcome = run.outcome
    refuses = isinstance(outcome, Failed) and NAMES.search(f"{outcome.type} {outcome.message}") is not None
    if CHAT == run.cell.wire and refuses and 1 == len(run.requests):
        raise NotApplicable(f"on this wire no result takes an image, and the loop says so: it {outcome}")
    return run.request(n)


def carried(run: Run, n: int) -> list[Place]:
    """The images in request ``n``. Raises AssertionError if the service refuses it, and what `asked` raises."""
    accepted(asked(run, n))
    return places_in(run.normalized(n).items)


def is_told(run: Run, n: int, call: str, texts: Sequence[str]) -> bool:
    """Whether the result of a call in request ``n`` has words of the loop's own about an image that is not there.

    Where the request has other images, it has to say that this one was left out.
    """
    for one in run.normalized(n).answers:
        if one.id == call and not spelled(one):
            own = one.text
            for text in texts:
                own = own.replace(text, "")
            return LEAVES_OUT.search(own) is not None if places_in(run.request(n).request.items) else says_left_out(own)
    return False


def says_left_out(text: str) -> bool:
    """Whether a text says that an image was left out, or only that there was one."""
    return LEAVES_OUT.search(text) is not None or (NAMES.search(text) is not None and not PROMISES.search(text))


def spelled(item: Item) -> str:
    """How an item spells out an image as text; "" if it does not."""
    if not isinstance(item, Answered | Said):
        return ""
    return next((f"{image} {how}" for image in IMAGES if (how := spelled_out(image, item.text))), "")


def place_of(run: Run, n: int, image: Image, call: str, texts: Sequence[str] = ()) -> Place:
    """Where request ``n`` carries this image, which a call has returned with these texts.

    Raises:
        AssertionError: it does not carry it.
        NotApplicable: it carries a reference to it, or tells the model on Chat that it cannot be sent.
    """
    places = carried(run, n)
    received = run.request(n)
    for place in places:
        if place.is_of(image):
            got = place.shown.media_type.lower()
            assert image.media_type == got, f"{image} arrives as {got or 'of no type'}, at {place.pointer}"
            return place
    for place in places:
        if place.is_elsewhere:
            raise NotApplicable("the loop sends the address of an image, which looptck does not follow")
        if place.is_written_anew:
            return place
    if CHAT == run.cell.wire and is_told(run, n, call, texts):
        raise NotApplicable("on this wire no result takes an image, and the loop says so to the model")
    raise AssertionError(f"{image} that {call} has returned does not arrive: {_instead(run, received, places, call)}")


def _instead(run: Run, received: Received, places: Sequence[Place], call: str) -> str:
    """What a request has in place of an image."""
    n = received.n
    if text := next(filter(None, map(spelled, received.request.items)), ""):
        return f"request {n} has {text}, as text"
    for place in places:
        if place.shown.reference:
            return f"at {place.pointer} its URL is {plain(begun(place.shown.reference, 40))}, which is none"
        if place.shown.data is None or media_type_of(place.shown.data) is None:
            return f"what is sent as {place.shown.media_type or 'an image'} at {place.pointer} is no whole image"
    others = [str(image) for image in IMAGES if any(place.is_of(image) for place in places)]
    if others:
        return f"request {n} carries only {' and '.join(others)}"
    result = next((one.text for one in run.normalized(n).answers if one.id == call), None)
    return f"request {n} carries no image, and {'no result' if result is None else plain(result, MOST)} for the call"
