"""The bench that a driver needs."""

from __future__ import annotations

from looptck.bench.bench import Bench, Patience
from looptck.bench.benches import LoopBench, ServerBench
from looptck.drivers import InProcess, Process, Servers, connect


def bench_for(driver: str, patience: Patience | None = None) -> Bench:
    """The bench for a driver.

    Raises:
        ValueError: the driver's name has no known form.
        BadFile: a server's file does not describe a server.
    """
    patience = patience or Patience()
    line = connect(driver, patience.start)
    if isinstance(line, Servers):
        return ServerBench(driver, line, patience)
    if isinstance(line, InProcess | Process):
        return LoopBench(driver, line, patience)
    from looptck.bench.program import ProgramBench  # most runs need none of it

    return ProgramBench(driver, line, patience)
