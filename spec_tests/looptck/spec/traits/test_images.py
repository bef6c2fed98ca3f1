"""Traits of images: where an image that a tool returns reaches the model."""

from __future__ import annotations

from looptck.catalogue.traits import trait
from looptck.provider.toolbox import ReturnsParts
from looptck.spec.picturing import RED, is_told, places_in, spelled
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says


@trait("image-in-a-result")
def test_image_in_a_result(loop: Loop) -> None:
    """The tool returns a text and an image."""
    loop.scenario.does("ping", ReturnsParts(("The map:", RED)))
    run = loop.plays(calls(Call.of("ping")), says("Seen."))

    call = run.delivered(1).calls[0].id or ""
    if isinstance(run.outcome, Failed) and len(run.requests) == 1:
        loop.answers("error-for-the-caller", error_text(run.outcome))
        return
    items = run.normalized(2).items
    places = places_in(items)
    text = next(filter(None, map(spelled, items)), "")
    if places:
        loop.answers("in-the-result" if places[0].call == call else "behind-the-results")
    elif text:
        loop.answers("as-text", text)
    else:
        loop.answers("left-out-and-told" if is_told(run, 2, call, ["The map:"]) else "left-out")
