"""Mutants that break requirements of ``core``, one module for each seam that they bend."""

from __future__ import annotations

from looptck_reference.mutants.core import (
    arguments,
    beside,
    early,
    events,
    faults,
    forwarding,
    histories,
    hosted,
    isolation,
    limits,
    memory,
    pauses,
    policies,
    replies,
    requests,
    results,
    sse,
    stops,
    streams_chat,
    streams_messages,
    streams_responses,
    turns,
)
from looptck_reference.mutants.gathering import defined_in

MUTANTS = defined_in(
    limits,
    turns,
    stops,
    pauses,
    requests,
    histories,
    hosted,
    results,
    arguments,
    policies,
    streams_chat,
    streams_messages,
    streams_responses,
    sse,
    events,
    replies,
    beside,
    forwarding,
    early,
    faults,
    memory,
    isolation,
)
