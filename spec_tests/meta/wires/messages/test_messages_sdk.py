"""What the Messages encoder writes, by the official SDK: its models know each member, and its client reads the turn."""

from __future__ import annotations

import json
from typing import Any, get_args

import anthropic
import pytest
from anthropic.types import Message, StopReason
from anthropic.types.beta import BetaStopReason
from hypothesis import given
from pydantic import ValidationError

from looptck.framing import NATURAL, Framing, Quirk
from looptck.turns import Call, Turn, calls, says
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.kit.steady import STEADY
from meta.wires.messages import sdk
from meta.wires.messages.samples import ANY_FRAMING, ANY_TURN, BROKEN, CUT, FRAMINGS, STRANGE, TURNS, WORDS
from meta.wires.strict_models import undeclared

READABLE = {**TURNS, "cut": CUT}
SHAPED = [name for name, framing in FRAMINGS.items() if framing == NATURAL or framing.shape]
"""The framings that change events, and the natural one: the others change how they are dressed."""
UNREAD = {
    "byte-order-mark": "its decoder takes the mark for a part of the first field's name, and so loses message_start",
    "unnamed-events": "its stream leaves out every event without an event line",
}
"""The framings that the SDK's client does not read: the reader of these tests does."""
QUIRKS: tuple[Quirk, ...] = ("input-at-start", "block-not-stopped", "end-marker")


def body(turn: Turn, framing: Framing = NATURAL) -> dict[str, Any]:
    """The plain reply that is a turn, the first of its run."""
    return ANTHROPIC_MESSAGES.body(turn, 1, framing)


def accumulated(turn: Turn, framing: Framing) -> dict[str, Any]:
    """The message that the client makes of a turn's stream."""
    stream = framing.dress(ANTHROPIC_MESSAGES.events(turn, 1, framing), named=True)
    return sdk.accumulated(framing.pieces(stream), beta=sdk.is_beta(body(turn)))


def check(turn: Turn, framing: Framing) -> None:
    """Every member of the body and of each event is declared by the SDK's models."""
    known = framing.but(unknown_fields=False, unknown_events=False)

    assert [] == sdk.strangers("message", body(turn, known))
    for event in ANTHROPIC_MESSAGES.events(turn, 1, known):
        if event == {"type": "ping"}:
            continue  # the client leaves pings out before it parses; no model has the word
        assert isinstance(event, dict)
        assert [] == sdk.strangers("event", event)


@pytest.mark.parametrize("framing", SHAPED)
@pytest.mark.parametrize("name", READABLE)
def test_the_models_declare_every_member(name: str, framing: str) -> None:
    """Body and events of any turn in any named framing have no member that the SDK's models do not declare."""
    check(READABLE[name].numbered(1), FRAMINGS[framing])


@STEADY
@given(ANY_TURN, ANY_FRAMING)
def test_the_models_declare_every_member_of_any_turn(turn: Turn, framing: Framing) -> None:
    """Body and events of any turn in any framing have no member that the SDK's models do not declare."""
    check(turn.numbered(1), framing)


@pytest.mark.parametrize("name", READABLE)
def test_the_client_reads_the_plain_reply(name: str) -> None:
    """The client reads a plain reply as it is."""
    numbered = READABLE[name].numbered(1)

    assert body(numbered) == sdk.read(body(numbered), beta=sdk.is_beta(body(numbered)))


@pytest.mark.parametrize("framing", [name for name in FRAMINGS if name not in UNREAD])
@pytest.mark.parametrize("name", READABLE)
def test_the_client_accumulates_the_plain_reply(name: str, framing: str) -> None:
    """A stream, accumulated, is the plain reply: member by member, unknown ones and the usage included."""
    numbered = READABLE[name].numbered(1)

    assert body(numbered, FRAMINGS[framing]) == accumulated(numbered, FRAMINGS[framing])


@STEADY
@given(ANY_TURN, ANY_FRAMING)
def test_the_client_accumulates_any_turn(turn: Turn, framing: Framing) -> None:
    """A stream of any turn in any framing, accumulated, is the plain reply."""
    numbered = turn.numbered(1)

    assert body(numbered, framing) == accumulated(numbered, framing)


@pytest.mark.parametrize("quirk", QUIRKS)
@pytest.mark.parametrize("name", READABLE)
def test_the_client_accumulates_quirks(name: str, quirk: Quirk) -> None:
    """The client comes to the plain reply in the shapes of compatible servers too."""
    numbered = READABLE[name].numbered(1)

    assert body(numbered) == accumulated(numbered, NATURAL.but(quirk=quirk))


@pytest.mark.parametrize("arguments", ['{"a": 1}', "{}"])
def test_the_client_accumulates_without_input_at_start(arguments: str) -> None:
    """An input that is missing where its block starts is read from its fragments."""
    numbered = calls(Call("add", arguments)).numbered(1)

    assert body(numbered) == accumulated(numbered, NATURAL.but(quirk="no-input-at-start"))


@pytest.mark.parametrize("framing", UNREAD)
def test_what_the_client_does_not_read(framing: str) -> None:
    """The framings that are said to be unread are: else they belong to the others."""
    unread = FRAMINGS.get(framing, NATURAL.but(quirk="unnamed-events"))

    with pytest.raises(AssertionError):
        accumulated(says("Hi."), unread)


def test_the_client_does_not_read_broken_arguments() -> None:
    """Arguments that are no JSON reach the client as the model wrote them: it raises."""
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        accumulated(BROKEN.numbered(1), NATURAL)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
def test_the_client_passes_on_what_nobody_knows() -> None:
    """Blocks of an unknown type and an unknown stop reason come through the client as they are."""
    numbered = STRANGE.numbered(1)

    assert body(numbered) == sdk.read(body(numbered))
    assert body(numbered) == accumulated(numbered, NATURAL)


def test_the_models_know_the_words() -> None:
    """The stop reasons are the SDK's, but for the unknown one."""
    stable, beta = set(get_args(StopReason)), set(get_args(BetaStopReason))

    assert set(WORDS.values()) == beta
    assert {"compaction"} == beta - stable


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields has no others than those that no model declares, and has them in every room."""
    unknown = body(TURNS["call"].numbered(1), FRAMINGS["unknown-fields"])
    parsed = Message.model_validate_json(json.dumps(unknown), strict=True)

    assert ["/content/0/x_unknown", "/x_unknown"] == sorted(undeclared(parsed, unknown))


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (401, "authentication_error", anthropic.AuthenticationError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (404, "not_found_error", anthropic.NotFoundError),
        (422, "invalid_request_error", anthropic.UnprocessableEntityError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (503, "api_error", anthropic.ServiceUnavailableError),
        (504, "timeout_error", anthropic.DeadlineExceededError),
        (529, "overloaded_error", anthropic.OverloadedError),
    ],
)
def test_errors_are_the_clients(status: int, kind: str, error: type[anthropic.APIStatusError]) -> None:
    """An error body is what the SDK's model of it declares, and the client raises the error of that status."""
    refused = ANTHROPIC_MESSAGES.error_body(status, "No.")

    assert [] == sdk.strangers("error", refused)
    with pytest.raises(error) as caught:
        sdk.read(refused, status=status)
    assert (kind, "No.") == (caught.value.type, caught.value.body["error"]["message"])  # type: ignore[index]


def test_the_models_do_not_declare_every_error() -> None:
    """The documentation's word for a request that is too large is missing from the models: there the facts count."""
    refused = ANTHROPIC_MESSAGES.error_body(413, "No.")

    assert "request_too_large" == refused["error"]["type"]
    with pytest.raises(ValidationError):
        sdk.strangers("error", refused)
    with pytest.raises(anthropic.RequestTooLargeError):
        sdk.read(refused, status=413)


@pytest.mark.parametrize("after", [0, 3])
def test_an_error_inside_a_stream_is_raised(after: int) -> None:
    """An error in place of the rest of a stream is raised by the client, whatever came before."""
    before = ANTHROPIC_MESSAGES.events(says("It is warm."), 1, NATURAL)[:after]
    stream = NATURAL.dress([*before, *ANTHROPIC_MESSAGES.error_events(before, "Overloaded.")], named=True)

    with pytest.raises(anthropic.APIStatusError, match=r"Overloaded\.") as caught:
        sdk.accumulated([stream])
    assert "overloaded_error" == caught.value.type


def test_side_routes_are_the_clients() -> None:
    """The client counts tokens, lists models and finds one, by the routes beside the model's."""
    asked: dict[str, Any] = {"model": "looptck-model", "messages": [{"role": "user", "content": "Hello."}]}

    assert 0 < sdk.CLIENT.messages.count_tokens(**asked).input_tokens
    assert ["looptck-model"] == [model.id for model in sdk.CLIENT.models.list()]
    assert "other" == sdk.CLIENT.models.retrieve("other").id
    with pytest.raises(anthropic.NotFoundError):
        sdk.CLIENT.messages.batches.retrieve("none")


@pytest.mark.parametrize(("kind", "path"), [("models", "/models"), ("model", "/models/other")])
def test_the_models_declare_the_models(kind: str, path: str) -> None:
    """What the side routes say of models has no member that the SDK does not declare."""
    beside = ANTHROPIC_MESSAGES.side("GET", path, None)

    assert beside is not None
    assert [] == sdk.strangers(kind, beside)


def test_there_are_no_other_side_routes() -> None:
    """A route that the wire does not know has no reply."""
    assert ANTHROPIC_MESSAGES.side("GET", "/messages/count_tokens", None) is None
    assert ANTHROPIC_MESSAGES.side("POST", "/messages/batches", {}) is None
