"""What the Messages encoder writes, by the official SDK: its models know each member, and its client reads the turn."""

from __future__ import annotations

import json
from typing import Any, get_args

import anthropic
import pytest
from anthropic.types import Message, StopReason
from anthropic.types.beta import BetaStopReason
from pydantic import ValidationError

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls, says
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.messages import sdk
from meta.wires.messages.samples import BROKEN, FRAMINGS, STRANGE, TURNS, WORDS
from meta.wires.messages.sdk import READABLE, UNREAD, body, of_stream
from meta.wires.strict_models import undeclared


@pytest.mark.parametrize("name", READABLE)
def test_the_client_reads_the_plain_reply(name: str) -> None:
    """The client reads a plain reply as it is."""
    numbered = READABLE[name].numbered(1)

    assert body(numbered) == sdk.read(body(numbered), beta=sdk.is_beta(body(numbered)))


@pytest.mark.parametrize("arguments", ['{"a": 1}', "{}"])
def test_the_client_accumulates_without_input_at_start(arguments: str) -> None:
    """An input that is missing where its block starts is read from its fragments."""
    numbered = calls(Call("add", arguments)).numbered(1)

    assert body(numbered) == of_stream(numbered, DEFAULT.but(quirk="no-input-at-start"))


@pytest.mark.parametrize("framing", UNREAD)
def test_what_the_client_does_not_read(framing: str) -> None:
    """The framings that are said to be unread are: else they belong to the others."""
    unread = FRAMINGS.get(framing, DEFAULT.but(quirk="unnamed-events"))

    with pytest.raises(AssertionError):
        of_stream(says("Hi."), unread)


def test_the_client_does_not_read_broken_arguments() -> None:
    """Arguments that are no JSON reach the client as the model wrote them: it raises."""
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        of_stream(BROKEN.numbered(1), DEFAULT)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
def test_the_client_passes_on_what_is_unknown() -> None:
    """Blocks of an unknown type and an unknown stop reason come through the client as they are."""
    numbered = STRANGE.numbered(1)

    assert body(numbered) == sdk.read(body(numbered))
    assert body(numbered) == of_stream(numbered, DEFAULT)


def test_the_models_know_the_words() -> None:
    """The stop reasons are the SDK's, but for the unknown one."""
    stable, beta = set(get_args(StopReason)), set(get_args(BetaStopReason))

    assert set(WORDS.values()) == beta
    assert {"compaction"} == beta - stable


def test_unknown_fields_are_unknown() -> None:
    """The framing with unknown fields adds those that no model declares, to the message and to its blocks."""
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
    before = ANTHROPIC_MESSAGES.events(says("It is warm."), 1, DEFAULT)[:after]
    stream = DEFAULT.encode([*before, *ANTHROPIC_MESSAGES.error_events(before, "Overloaded.")], named=True)

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
