"""What a session keeps of its runs: those that a check still waits for, and no others."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from looptck.suite.session import Session
from looptck.suite.shared_runs import SharedRuns
from looptck.values.transcript import Received
from meta.drivers.bench import in_process, judged


def test_runs_are_freed_when_their_last_check_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two requirements share each run; at the end none is kept, nor are the bytes of its requests."""
    end, most, left = Session.end, [0], [-1, -1]
    over = SharedRuns.over

    def counted(shared: SharedRuns, check: Any) -> None:
        most[0] = max(most[0], len(shared.kept))
        over(shared, check)

    def ended(session: Session) -> None:
        gc.collect()
        requests = sum(isinstance(one, Received) for one in gc.get_objects())
        left[:] = max(left[0], len(session.shared.kept)), requests - before
        end(session)

    gc.collect()
    before = sum(isinstance(one, Received) for one in gc.get_objects())
    monkeypatch.setattr(SharedRuns, "over", counted)
    monkeypatch.setattr(Session, "end", ended)
    report = judged(
        in_process("Driver"), "every-call-of-a-turn-runs", "call-runs-its-tool-once", "every-call-is-answered"
    )

    assert set(report.counts) <= {"pass", "fail", "not-reached"}
    assert most[0] > 0
    assert 0 == left[0]
    assert left[1] <= 0  # what other tests have left may go too
