"""The headers of every request: what its body is, the version of the API, and a key."""

from __future__ import annotations

import re
from collections.abc import Mapping

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import HttpError
from looptck.spec.failing_service import SOON
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

SCHEMED = "authorization"
"""The header with the scheme of a key before the key."""
KEYS = ("api-key", "x-api-key", "x-goog-api-key")
"""Headers of services that have a key alone, without the scheme that stands before it in `SCHEMED`."""


CALL = calls(Call.of("weather", {"city": "Paris"}))
ANSWER = says("It is warm in Paris.")


def _conversation(scenario: Scenario, implementation: Implementation) -> Run:
    """A turn with a call, then the answer. Raises NotReached unless both happened."""
    scenario.plays(CALL, ANSWER)
    run = implementation.run("What is the weather?")
    run.request(2)
    return run


def _asked_again(scenario: Scenario, implementation: Implementation) -> Run:
    """The same, and the service fails once in between. NotApplicable: the loop does not ask again."""
    scenario.plays(CALL, HttpError(500, SOON), ANSWER)
    run = implementation.run("What is the weather?")
    run.replied(2)
    if len(run.received) == 2:
        raise NotApplicable("the loop does not ask again where the service has failed")
    return run


@requirement("requests-say-that-they-are-json")
def test_content_type(scenario: Scenario, implementation: Implementation) -> None:
    """The services refuse a text or a form. A request that names no type is taken for JSON, as most servers take it."""
    run = _conversation(scenario, implementation)

    said = {received.headers.get("content-type", "application/json") for received in run.received}
    others = sorted(type for type in said if "json" not in type.lower())
    assert not others, f"a request has the content type {others[0]!r}"


@requirement("api-version-is-named")
def test_api_version(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses a request without the header."""
    _names_the_version(_conversation(scenario, implementation))


@requirement("api-version-is-named")
def test_api_version_once_more(scenario: Scenario, implementation: Implementation) -> None:
    """The service has failed, and the request that comes in place of the failed one has the header too."""
    _names_the_version(_asked_again(scenario, implementation))


def _names_the_version(run: Run) -> None:
    unnamed = [received.n for received in run.received if not received.headers.get("anthropic-version")]
    assert not unnamed, f"request {unnamed[0]} has no header anthropic-version"


@requirement("key-is-sent")
def test_key(scenario: Scenario, implementation: Implementation) -> None:
    """Which header has the key, and whose key it is, is not judged, nor a loop for local servers that sends none."""
    _sends_its_key(_conversation(scenario, implementation))


@requirement("key-is-sent")
def test_key_once_more(scenario: Scenario, implementation: Implementation) -> None:
    """The service has failed, and the request that comes in place of the failed one has the key too."""
    _sends_its_key(_asked_again(scenario, implementation))


def _sends_its_key(run: Run) -> None:
    if not any(name in received.headers for received in run.received for name in (SCHEMED, *KEYS)):
        raise NotApplicable("no request has a header for a key, as servers that need none are asked")
    bare = [received.n for received in run.received if not _has_a_key(received.headers)]
    assert not bare, f"request {bare[0]} has no key: no scheme and key in {SCHEMED}, and none of {', '.join(KEYS)}"


def _has_a_key(headers: Mapping[str, str]) -> bool:
    """Whether a request has a header with a key, or the scheme of one and what belongs to it."""
    schemed = re.fullmatch(r"\s*\S+\s+\S.*", headers.get(SCHEMED, ""))
    return schemed is not None or any(headers.get(name, "").strip() for name in KEYS)
