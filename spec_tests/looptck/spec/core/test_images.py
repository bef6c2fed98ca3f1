"""Texts and images that tools return: they reach the model as such, with their call, in order, and stay."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.results import answered_once
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.toolbox import Raises, Returns, ReturnsParts
from looptck.spec.picturing import BLUE, RED, Place, asked, carried, place_of, places_in, says_left_out, spelled
from looptck.spec.resuming import approved, resumed, stop
from looptck.values.history import Answered, Said, holds
from looptck.values.images import Image, Shown, gif
from looptck.values.transcript import Received
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

LOOK = Call.of("weather", {"city": "Paris"})
DRAW = Call.of("note", {"text": "a square"})
ADD = Call.of("add", {"a": 1, "b": 2})
PING = Call.of("ping")
BEFORE, BETWEEN, AFTER = "The map of Paris at noon:", "At nine it will be:", "No wind from the sea."
KINDS = {"png": RED, "gif": gif("green")}
SEEN = says("I have seen it.")


def _look(scenario: Scenario, implementation: Implementation, *parts: str | Image) -> Run:
    """A run in which one call returns these parts."""
    scenario.plays(calls(LOOK), SEEN)
    scenario.does("weather", ReturnsParts(parts))
    return implementation.run()


def _id(run: Run, place: int = 0, turn: int = 1) -> str:
    """The id of a call."""
    return run.delivered(turn).calls[place].id or ""


@requirement("image-result-reaches-the-model")
@pytest.mark.parametrize("image", KINDS.values(), ids=KINDS)
def test_image_beside_text(scenario: Scenario, implementation: Implementation, image: Image) -> None:
    """A tool returns a text and an image."""
    run = _look(scenario, implementation, BEFORE, image)

    place_of(run, 2, image, _id(run), [BEFORE])


@requirement("image-result-reaches-the-model")
def test_image_alone(scenario: Scenario, implementation: Implementation) -> None:
    """A tool returns nothing but an image."""
    run = _look(scenario, implementation, RED)

    place_of(run, 2, RED, _id(run))


@requirement("image-result-reaches-the-model")
def test_two_images(scenario: Scenario, implementation: Implementation) -> None:
    """A tool returns two images."""
    run = _look(scenario, implementation, BEFORE, RED, BETWEEN, BLUE)

    for image in (RED, BLUE):
        place_of(run, 2, image, _id(run), [BEFORE, BETWEEN])


@requirement("image-arrives-unchanged")
@pytest.mark.parametrize("image", KINDS.values(), ids=KINDS)
def test_unchanged(scenario: Scenario, implementation: Implementation, image: Image) -> None:
    """The image that arrives has the bytes that the tool has returned."""
    run = _look(scenario, implementation, BEFORE, image)

    place = _reached(run, image)
    data = place.shown.data or b""
    assert place.is_of(image), f"{image} arrives as another file, {place.shown.media_type} of {len(data)} bytes"


def _reached(run: Run, image: Image, n: int = 2, texts: tuple[str, ...] = (BEFORE,)) -> Place:
    """Where the image is. NotReached if it does not arrive, which other rows judge."""
    try:
        return place_of(run, n, image, _id(run), texts)
    except AssertionError as lost:
        raise NotReached(str(lost).partition("\nassert ")[0]) from None


@requirement("image-is-never-text")
@pytest.mark.parametrize("parts", [(BEFORE, RED), (gif("green"),)], ids=["beside-text", "alone"])
def test_never_text(scenario: Scenario, implementation: Implementation, parts: tuple[str | Image, ...]) -> None:
    """No text of any request spells an image out: the model would read thousands of characters that say nothing."""
    run = _look(scenario, implementation, *parts)

    asked(run, 2)
    _never_text(run)


@requirement("image-is-never-text")
def test_never_text_beside_others(scenario: Scenario, implementation: Implementation) -> None:
    """The results of a turn are an image, a text and an error."""
    run = _several(scenario, implementation)

    _never_text(run)


def _never_text(run: Run) -> None:
    for received in run.requests[1:]:
        for item in received.request.items:
            how = spelled(item)
            assert not how, f"request {received.n} has {how}, as text, at {item.pointer}"


@requirement("text-beside-an-image-arrives")
def test_text_beside_an_image(scenario: Scenario, implementation: Implementation) -> None:
    """The texts before and behind an image arrive, in the result or beside the image."""
    run = _look(scenario, implementation, BEFORE, RED, AFTER)

    asked(run, 2)
    items = run.normalized(2).items
    said = [one.text for one in items if isinstance(one, Said) and one.role == "user"]
    said += [one.text for one in items if isinstance(one, Answered) and one.id == _id(run)]
    for text in (BEFORE, AFTER):
        assert any(holds(one, text) for one in said), f"beside an image the tool has returned {text!r}: it is not sent"


@requirement("parts-keep-their-order")
def test_order_of_parts(scenario: Scenario, implementation: Implementation) -> None:
    """Texts and images of a result come in the order in which the tool has returned them."""
    run = _look(scenario, implementation, BEFORE, RED, BETWEEN, BLUE, AFTER)

    _unrefused(run)
    result = next((one for one in run.answers(1) if one.parts), None)
    if result is None:
        raise NotApplicable("no image is in the result, where it could be in order with its texts")
    if any(isinstance(part, Shown) and not _named(part) for part in result.parts):
        raise NotApplicable("the images are written anew, or elsewhere, so it cannot be seen which is which")
    names = {BEFORE: "text 1", BETWEEN: "text 2", AFTER: "text 3"}
    got = [
        name
        for part in result.parts
        for name in ([_named(part)] if isinstance(part, Shown) else [names[one] for one in names if one in part])
        if name
    ]
    wanted = [one for one in ("text 1", "image 1", "text 2", "image 2", "text 3") if one in got]
    assert wanted == got, f"the parts of the result are in the order {', '.join(got)}"


def _unrefused(run: Run) -> list[Place]:
    """The images in request 2. NotReached if the service refuses it, which other rows judge."""
    if asked(run, 2).problems:
        raise NotReached("the service refuses request 2")
    return carried(run, 2)


def _named(shown: Shown) -> str:
    return {RED.data: "image 1", BLUE.data: "image 2"}.get(shown.data or b"", "")


@requirement("parts-keep-their-order")
def test_order_of_calls(scenario: Scenario, implementation: Implementation) -> None:
    """Images behind the results come in the order of their calls, unless the text before each names its call."""
    scenario.plays(calls(LOOK, DRAW), SEEN)
    scenario.does("weather", ReturnsParts((BEFORE, RED)))
    scenario.does("note", ReturnsParts((AFTER, BLUE)))

    run = implementation.run()

    places = _unrefused(run)
    behind = [place for place in places if place.call is None and (place.is_of(RED) or place.is_of(BLUE))]
    if len(behind) < 2:
        raise NotApplicable("the images are not behind the results")
    words = {"image 1": (_id(run, 0), "weather", BEFORE), "image 2": (_id(run, 1), "note", AFTER)}
    named = [any(word in place.before for word in words[_named(place.shown)]) for place in behind]
    got = [_named(place.shown) for place in behind]
    assert all(named) or sorted(got) == got, "the image of the second call comes first, and no text says whose it is"


def _several(scenario: Scenario, implementation: Implementation) -> Run:
    """A run with four calls in a turn, which return a text with an image, a text, an error, and an image alone.

    Of a loop that ends when a call fails, the same run with a text in place of the error.
    """
    scenario.plays(calls(LOOK, PING, ADD, DRAW), SEEN)
    scenario.does("weather", ReturnsParts((BEFORE, RED)))
    scenario.does("ping", Returns("It is there."))
    scenario.does("add", Raises("the adder is broken"))
    scenario.does("note", ReturnsParts((BLUE,)))
    run = implementation.run()
    run.delivered(1)
    if run.failed and 1 == len(run.requests):
        scenario.does("add", Returns("It is 3."))
        run = implementation.run()
    asked(run, 2)
    return run


@requirement("image-is-with-its-call")
def test_several_results(scenario: Scenario, implementation: Implementation) -> None:
    """Of four results two have an image: each is in its own result, or behind all results."""
    run = _several(scenario, implementation)

    wanted = {_id(run): (RED, [BEFORE]), _id(run, 3): (BLUE, list[str]())}
    for call, (image, texts) in wanted.items():
        place_of(run, 2, image, call, texts)
    answered_once(run, 1)
    for place in places_in(run.normalized(2).items):
        for call, (image, _) in wanted.items():
            own = place.call in {None, call} or not place.is_of(image)
            assert own, f"{image} is the result of {call}, and is in that of {place.call}"


@requirement("image-only-result-is-answered")
def test_image_only(scenario: Scenario, implementation: Implementation) -> None:
    """A call whose result is nothing but an image is answered, as the service asks of every call."""
    run = _look(scenario, implementation, RED)

    carried(run, 2)
    answered_once(run, 1)


@requirement("image-stays-in-the-history")
def test_next_round(scenario: Scenario, implementation: Implementation) -> None:
    """The model goes on calling tools: the request after that still has the image."""
    scenario.plays(calls(LOOK), calls(PING), SEEN)
    scenario.does("weather", ReturnsParts((BEFORE, RED)))

    run = implementation.run()

    _reached(run, RED)
    _stays(run, 3, run.request(2))


@requirement("image-stays-in-the-history")
def test_next_question(scenario: Scenario, implementation: Implementation) -> None:
    """The user asks something else: the request still has the image."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    scenario.plays(calls(LOOK), SEEN)
    scenario.does("weather", ReturnsParts((BEFORE, RED)))
    first = talk.run("What does the map show?")
    _reached(first, RED)
    scenario.plays(says("It is red."))

    run = talk.run("Which colour is it?")

    run.delivered(1)
    _stays(run, 1, first.request(2))


@requirement("image-stays-in-the-history")
def test_suspended_turn(scenario: Scenario, implementation: Implementation) -> None:
    """A tool has returned an image when the run is suspended for another call of the turn: the resumed run has it."""
    implementation.needs("suspend")
    control = _look(scenario, implementation, BEFORE, RED)
    _reached(control, RED)
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, [calls(LOOK, DRAW), SEEN])
    scenario.plays(*left)

    *_, run = resumed(talk, first, approved)

    _stays(run, 1, control.request(2))


def _stays(run: Run, n: int, before: Received) -> None:
    """Request ``n`` has the image, or says that it was left out, which the request before did not say."""
    kept = carried(run, n)
    if any(place.is_of(RED) or place.is_written_anew or place.is_elsewhere for place in kept):
        return
    old = {item.text for item in before.request.items if isinstance(item, Answered | Said)}
    new = [item.text for item in run.request(n).request.items if isinstance(item, Answered | Said)]
    if any(says_left_out(text) for text in new if text not in {*old, "Which colour is it?"}):
        raise NotApplicable("the loop leaves out an image that was sent before, and tells the model that it does")
    raise AssertionError(f"request {n} no longer has the image of an earlier result, and does not say so")
