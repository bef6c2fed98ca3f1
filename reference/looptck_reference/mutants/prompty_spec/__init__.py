"""Mutants that break requirements of ``prompty-spec``."""

from __future__ import annotations

from looptck_reference.mutants.gathering import defined_in
from looptck_reference.mutants.prompty_spec import (
    answers,
    bindings,
    children,
    coarse,
    files,
    formats,
    handlers,
    rounds,
    streams,
    telemetry,
)

MUTANTS = defined_in(answers, rounds, files, streams, formats, handlers, bindings, children, telemetry, coarse)
