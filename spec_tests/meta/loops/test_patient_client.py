"""A client may wait for its own time limit where a stream ends before the answer."""

from __future__ import annotations

from meta.loops.judging import judged
from meta.loops.patient_client import PatientClient


def test_waiting_for_a_time_limit_is_not_judged() -> None:
    """It still waits when the kit's time is over, and nothing shows whether it would have waited on."""
    found = judged(PatientClient, "openai-chat/plain/sync", requirements=["mcp-broken-streams-are-told"], patience=3.0)

    assert ["not-applicable"] == [one.verdict for one in found]
    assert "no time limit of its own" in found[0].reason
