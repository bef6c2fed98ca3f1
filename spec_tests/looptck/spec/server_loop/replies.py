"""Conversations that several checks of servers play, and helpers that read the replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from looptck.bench.client import Progress, Reply
from looptck.bench.run import Run
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

if TYPE_CHECKING:
    import httpx

PING = Call.of("ping")
PARIS = Call.of("weather", {"city": "Paris"})
LODZ = Call.of("weather", {"city": "Łódź", "days": [1, {"hour": 12}]})
DONE = says("Done.")
ONE_ROUND = (calls(PING), DONE)
NO_END = "the stream has no explicit end"
THREE_ROUNDS = (calls(PING), calls(PARIS), calls(LODZ), DONE)


def reply_after_rounds(run: Run, rounds: int) -> Reply:
    """The reply of a run in which exactly ``rounds`` tools ran. Raises NotReached if another number ran."""
    if rounds != len(run.ran):
        raise NotReached(f"{rounds} tools should have run, and {len(run.ran)} did; the request got {run.got}")
    return run.got


def went_on(run: Run, reason: str) -> None:
    """Assert that the model was asked again after its call, for which there is a ``reason`` to stop in bad servers.

    Raises:
        NotReached: the model made no call.
    """
    run.delivered(1)
    assert len(run.requests) > 1, f"{reason} ended the run: the model got no result, and the client got {run.got}"


def events_of_phase(reply: Reply, name: str) -> list[Progress]:
    """The progress events of one phase. Raises NotReached if there is none."""
    found = [event for event in reply.progress if event.phase == name]
    if not found:
        raise NotReached(f"no progress event has the phase {name}: the request got {reply}")
    return found


def in_calling_alone(reply: Reply, member: str, value: Any) -> None:
    """Raises NotApplicable if `calling` has this value and `complete` has none: later versions report inputs once."""
    calling, complete = (events_of_phase(reply, phase)[0].data for phase in ("calling", "complete"))
    if complete.get(member) is None and as_json(calling.get(member)) == as_json(value):
        raise NotApplicable(f"{member} is in calling and not repeated in complete, as in later versions of the server")


def results_of_all(run: Run) -> list[str]:
    """The texts of results in records or complete events, and then in model requests, as reported."""
    if run.got.stream:
        data = [event.data for event in run.got.progress if event.phase == "complete"]
        reported = [value for one in data for value in one.values() if isinstance(value, str)]
    else:
        reported = [str(record.get("result_content")) for record in run.got.records]
    return reported + [answer.text for received in run.received for answer in received.request.answers]


def json_of(got: httpx.Response) -> Any:
    """The JSON of the reply of a route. Raises AssertionError if it is none."""
    try:
        return got.json()
    except (ValueError, RecursionError):
        raise AssertionError(f"{got.url.path} was answered with no JSON: {got.text[:300]!r}") from None


def as_json(value: Any) -> Any:
    """The JSON value of a text that may be JSON; other texts and values are returned as they are."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
