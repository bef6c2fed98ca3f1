"""Mutants of the simulator: servers that run the loop themselves, with one fault each.

`looptck kill --profile server-loop` reads `MUTANTS`. They need the extra `server`.
"""

from __future__ import annotations

from looptck_reference.mutants.gathering import defined_in
from looptck_reference.mutants.server_loop import (
    approvals,
    around,
    bodies,
    built_in,
    cap,
    client_side,
    clients,
    coarse,
    dispatch,
    dispatch_answers,
    file_routes,
    files,
    lost_calls,
    offers,
    rounds,
    run_events,
    session_store,
    sessions,
    shapes,
    streams,
    told,
)
from looptck_reference.mutants.server_loop.mutant import ServerMutant

__all__ = ["MUTANTS", "ServerMutant"]

MUTANTS: tuple[type[ServerMutant], ...] = defined_in(
    approvals,
    around,
    bodies,
    built_in,
    cap,
    client_side,
    clients,
    dispatch,
    dispatch_answers,
    file_routes,
    files,
    lost_calls,
    offers,
    rounds,
    run_events,
    session_store,
    sessions,
    shapes,
    streams,
    told,
    coarse,
)
"""All of them, by the seam that is broken."""
