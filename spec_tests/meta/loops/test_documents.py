"""No check fails a loop that keeps to the one document that it claims, where that and `core` differ."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops.documents import Guide, GuideInJavaScript, Specification, SpecificationInGo
from meta.loops.judging import judged

SPEC, GUIDE = "prompty-spec", "prompty-agent-mode"
LOOPS = [
    (Specification, SPEC, ["openai-chat/plain/sync", "openai-responses/plain/sync", "anthropic-messages/stream/sync"]),
    (Guide, GUIDE, ["openai-chat/stream/sync", "openai-chat/plain/async"]),
]
NULL = "null-arguments-are-an-empty-object"
"""No document says what null is, and the loops take it for the empty text that their documents refuse."""


@pytest.mark.parametrize(("loop", "profile", "cells"), LOOPS)
def test_loop_fails_nothing(loop: type[Driver], profile: str, cells: list[str]) -> None:
    """Neither in its document, whose errors may have classes of its own, nor in core."""
    results = [one for judge in ("core", profile) for one in judged(loop, *cells, profile=judge, dealt=True)]

    against = [one for one in results if one.verdict in AGAINST and one.requirement != NULL]
    assert [] == [(result.requirement, result.case, result.reason) for result in against]
    assert sum(result.verdict == "pass" for result in results) > 300


EXCUSED = [
    (Specification, "stopped-turn-runs-nothing", "anthropic-messages/plain/sync", SPEC),
    (Specification, "text-beside-calls-is-echoed", "openai-chat/plain/sync", SPEC),
    (Guide, "calls-decide-not-the-finish-reason", "openai-chat/plain/sync", GUIDE),
]


@pytest.mark.parametrize(("loop", "row", "cell", "profile"), EXCUSED)
def test_document_goes_before_core(loop: type[Driver], row: str, cell: str, profile: str) -> None:
    """The row is not applicable, with the section that decides otherwise."""
    results = judged(loop, cell, requirements=[row])

    assert {"not-applicable"} == {result.verdict for result in results}
    assert f"the driver claims {profile}, whose document decides otherwise (" in results[0].reason


def test_document_goes_before_core_on_its_wires_only() -> None:
    """On Messages the specification keeps all blocks, as core does."""
    results = judged(Specification, "anthropic-messages/plain/sync", requirements=["text-beside-calls-is-echoed"])

    assert {"pass"} == {result.verdict for result in results}


def test_documents_that_are_followed_apart_leave_core_whole() -> None:
    """The reference has an answer for each, and that of core in cases of core."""
    rows = ["calls-decide-not-the-finish-reason", "text-beside-calls-is-echoed"]
    results = judged(Driver, "openai-chat/plain/sync", requirements=rows)

    assert {(row, "pass") for row in rows} == {(result.requirement, result.verdict) for result in results}


@pytest.mark.parametrize("loop", [Guide, GuideInJavaScript])
def test_types_of_errors_are_pythons(loop: type[Driver]) -> None:
    """In another language the type of the error at the limit is not judged, and its text is."""
    rows = ["mode-limit-raises-value-error", "mode-limit-error-has-the-documents-text"]
    results = judged(loop, "openai-chat/plain/sync", profile=GUIDE, requirements=rows)

    of_type = "pass" if loop is Guide else "not-applicable"
    assert {(rows[0], of_type), (rows[1], "pass")} == {(result.requirement, result.verdict) for result in results}


def test_errors_of_handlers_may_be_wrapped_in_other_languages() -> None:
    """Their words reach the caller, in an error of another type."""
    rows = [
        "spec-raising-handler-ends-the-loop",
        "spec-raising-kind-handler-ends-the-loop",
        "spec-childs-error-ends-the-loop",
    ]
    results = judged(SpecificationInGo, "openai-chat/plain/sync", profile=SPEC, requirements=rows)

    assert {(row, "pass") for row in rows} == {(result.requirement, result.verdict) for result in results}
