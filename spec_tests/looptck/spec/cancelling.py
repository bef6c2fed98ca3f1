"""How the kit cancels a run: when the service or a tool is held at a gate, and the implementation is at rest."""

from __future__ import annotations

from looptck.bench.bench import Running
from looptck.bench.benches import loop_bench
from looptck.bench.checks import Implementation
from looptck.bench.run import Run
from looptck.provider.gate import Gate
from looptck.values.verdicts import NotReached


def require_cancelling(implementation: Implementation) -> None:
    """Raises NotApplicable if no run in this cell can be cancelled."""
    implementation.needs("cancel")
    if implementation.cell.mode == "sync":
        implementation.needs("interrupt", ", which a run in sync mode needs")


def cancelled_at(gate: Gate, implementation: Implementation, running: Running) -> Run:
    """The run, cancelled when it waits at the gate. NotReached if it never waits there."""
    bench = loop_bench(implementation.bench)
    if not gate.reached(bench.patience.outcome, running.future.done):
        gate.open()  # a run that comes here after all goes on
        run = implementation.end(running)
        raise NotReached(f"the run was to be cancelled in the middle, but before that the loop {run.outcome}")
    bench.rest()
    running.cancel()
    return implementation.end(running)
