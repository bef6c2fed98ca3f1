"""Empty results of calls that went well, which are neither failures nor told as such."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from looptck.bench.assertions.failure_texts import READS_AS_ERROR
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.values.history import Answered
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

NO_ERROR = re.compile(r"\b(no|without( an| any)?) (error|failure)s?\b", re.IGNORECASE)
"""What may be said beside an empty result."""
GIVEN = "call_note_7"
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Write that down."},
    {"role": "assistant", "content": "", "calls": [{"id": GIVEN, "name": "note", "arguments": {"text": "fine"}}]},
    {"role": "tool", "call_id": GIVEN, "content": ""},
    {"role": "assistant", "content": "It is written down."},
]


@requirement("empty-result-is-no-failure")
def test_of_this_run(scenario: Scenario, implementation: Implementation) -> None:
    """A tool has returned an empty text."""
    scenario.returns("note", "")
    scenario.plays(calls(Call.of("note", {"text": "fine"})), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if not any("value" in (one.answer or {}) for one in run.ran):
        raise NotReached("the tool has not run")
    _is_no_failure(run.answers(1))


@requirement("empty-result-is-no-failure")
def test_of_a_given_history(scenario: Scenario, implementation: Implementation) -> None:
    """The history that the caller hands over has a result without a text."""
    implementation.needs("histories")
    scenario.plays(says("It is noon."))

    run = implementation.run("What time is it?", history=HISTORY)

    _is_no_failure(run.request(1).request.answers)


def _is_no_failure(results: Sequence[Answered]) -> None:
    """Assert that the only result is not told as that of a call that has failed. NotReached if there is none."""
    if len(results) != 1:
        raise NotReached(f"the request has {len(results)} results, and one call was made")
    text = results[0].text
    assert not results[0].failed, f"the tool has returned an empty text, and its result {text!r} is marked as failed"
    assert not READS_AS_ERROR.search(NO_ERROR.sub("", text)), (
        f"the tool has returned an empty text, and the model reads {text!r}, as if the call had failed"
    )
