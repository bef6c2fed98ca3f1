"""Coverage: each statement of a profile is in one of four sorts, by what a run did with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.catalogue import Profile, catalogue
from looptck.coverage import coverage_of
from looptck.verdicts import Result, Verdict

ROW = replace(catalogue()["lost-memory-reruns-no-tool"], id="row", needs=("memory",), excluded=None)


def sort_of(verdict: Verdict | None, *, needs: tuple[str, ...] = (), excluded: str | None = None) -> dict[str, int]:
    """The sorts of a profile of one row, which has one result of this verdict, or none."""
    row = replace(ROW, needs=needs, excluded=excluded)
    results = [Result("row", "core", "MUST", "openai-chat/plain/sync", "case", verdict, "")] if verdict else []
    found = coverage_of(Profile("core", "Core", finished=True, requirements=(row,)), results)
    sorts = {sort: len(getattr(found, sort)) for sort in ("tested", "excluded", "inapplicable", "untested")}
    return {**{sort: count for sort, count in sorts.items() if count}, "lacking": int(found.lacking)}


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_what_was_decided_was_tested(verdict: Verdict) -> None:
    """A pass and a failure show that the deciding event happened."""
    assert {"tested": 1, "lacking": 0} == sort_of(verdict)


@pytest.mark.parametrize("verdict", [None, "not-reached", "error", "divergence"])
def test_what_was_not_decided_is_untested(verdict: Verdict | None) -> None:
    """Nothing that did not come to its deciding event counts as tested, and a finished profile lacks it."""
    assert {"untested": 1, "lacking": 1} == sort_of(verdict)


def test_what_an_implementation_cannot_do_is_not_applicable() -> None:
    """A check that was ready, and a capability that is declared absent, are no lack of the kit."""
    assert {"inapplicable": 1, "lacking": 0} == sort_of("not-applicable", needs=("memory",))


def test_what_does_not_apply_for_another_reason_is_untested() -> None:
    """Without a capability that the row needs, there is nobody to blame but the kit."""
    assert {"untested": 1, "lacking": 1} == sort_of("not-applicable")


def test_what_is_excluded_is_excluded() -> None:
    """A row with a reason needs no result."""
    assert {"excluded": 1, "lacking": 0} == sort_of(None, excluded="It cannot be seen.")
