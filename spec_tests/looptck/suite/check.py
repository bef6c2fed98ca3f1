"""The suite as a test of somebody's own: a function that runs their agent is its driver, and a requirement an item.

The suite runs once, for the requirements that are selected, in a process of its own; the items report what it came to.
"""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from looptck.catalogue.requirements import catalogue
from looptck.driver import Case, Emit, Outcome, Wire, error, started, value
from looptck.drivers import Started
from looptck.suite.selection import Selection
from looptck.values.cell import Cell

Agent = Callable[..., Any]
"""Takes a case, and `emit` if it streams; returns the final text, or raises."""

_FAILED = ("fail", "not-reached")
_SHOWN = 1
RESULTS: pytest.StashKey[dict[str, dict[str, Any]]] = pytest.StashKey()
"""The results of this run of pytest, by driver."""


def check(
    *, wires: Iterable[str], level: str = "MAY", name: str | None = None, **capabilities: Any
) -> Callable[[Agent], Callable[..., None]]:
    """Make the tests of the whole suite out of a function that runs an agent.

    Args:
        wires: the wires that the agent speaks: ``openai-chat``, ``openai-responses``, ``anthropic-messages``.
        level: judge requirements of this level or a higher one: MUST, SHOULD or MAY.
        name: the agent's name in reports; None: that of the function.
        capabilities: what the agent can do, as in `looptck.driver.started`, such as ``limit=True``.

    Returns:
        A decorator. The function takes a case, and `emit` as well if it streams; it returns the text of the agent, or
        an outcome of `looptck.driver`, or raises. A coroutine function is run in mode async.
    """

    def decorate(agent: Agent) -> Callable[..., None]:
        mode = "async" if inspect.iscoroutinefunction(agent) else "sync"
        declared = started(
            name or agent.__name__, "0", wires=cast(Iterable[Wire], wires), modes=[cast(Any, mode)], **capabilities
        )
        driver = _driver(agent, declared)
        where = f"python:{inspect.getfile(agent)}:{agent.__qualname__}.driver"
        implementation = Started.from_message({"type": "started", **declared})
        ids = sorted(Selection(level=level).rows(catalogue(), _cells(implementation), implementation))

        @pytest.mark.parametrize("looptck_row", ids)
        def test(looptck_row: str, request: pytest.FixtureRequest) -> None:
            _judge(looptck_row, _results(request, where, level, len(ids)))

        test.__name__, test.__qualname__, test.__doc__ = agent.__name__, agent.__qualname__, agent.__doc__
        test.__module__ = agent.__module__
        test.driver = driver  # type: ignore[attr-defined]
        return cast(Callable[..., None], test)

    return decorate


def _cells(implementation: Started) -> list[Cell]:
    return [
        Cell(wire, stream, mode)
        for wire in implementation.wires
        for stream in (False, True)
        for mode in implementation.modes
        if implementation.can("stream" if stream else "plain")
    ]


def _driver(agent: Agent, declared: Any) -> type:
    """A driver class whose runs are calls of the agent."""
    takes_emit = len(inspect.signature(agent).parameters) > 1

    class AgentDriver:
        def start(self) -> Any:
            return declared

        def run(self, case: Case, emit: Emit) -> Outcome:
            try:
                return _outcome(agent(case, emit) if takes_emit else agent(case))
            except Exception as exception:  # noqa: BLE001 - an agent may raise anything
                return error(exception)

        async def run_async(self, case: Case, emit: Emit) -> Outcome:
            try:
                return _outcome(await (agent(case, emit) if takes_emit else agent(case)))
            except Exception as exception:  # noqa: BLE001 - as above
                return error(exception)

    return AgentDriver


def _outcome(returned: Any) -> Outcome:
    return cast(Outcome, returned) if isinstance(returned, Mapping) and "kind" in returned else value(returned)


def _judge(id: str, results: Mapping[str, Any]) -> None:
    """Fail, skip or pass, as the results of a requirement say."""
    rows = [row for row in results["results"] if row["requirement"] == id]
    failed = [row for row in rows if row["verdict"] in _FAILED]
    if failed:
        cells = ", ".join(dict.fromkeys(row["cell"] for row in failed))
        texts = dict.fromkeys(row.get("detail") or row["reason"] for row in failed)
        more = [f"and {len(texts) - _SHOWN} more cases"] if len(texts) > _SHOWN else []
        pytest.fail("\n\n".join([f"{catalogue()[id].text}  [{cells}]", *[*texts][:_SHOWN], *more]), pytrace=False)
    faults = [row["reason"] for row in rows if row["verdict"] == "error"]
    if faults:
        pytest.fail(f"{id} could not be judged: {faults[0]}", pytrace=False)
    if all(row["verdict"] == "not-applicable" for row in rows):
        pytest.skip(rows[0]["reason"] if rows else "no check of this requirement fits the agent")


def _results(request: pytest.FixtureRequest, driver: str, level: str, count: int) -> dict[str, Any]:
    """The results of the suite on a driver: of this run of pytest, whichever of its processes has made them."""
    kept = request.config.stash.setdefault(RESULTS, {})
    if driver not in kept:
        mine = [item for item in request.session.items if item.nodeid.partition("[")[0] == _base(request)]
        asked = [str(item.callspec.params["looptck_row"]) for item in mine if isinstance(item, pytest.Function)]
        rows = [] if len(asked) == count else asked
        folder = request.getfixturevalue("tmp_path_factory").getbasetemp()
        if "PYTEST_XDIST_WORKER" in os.environ:
            folder = folder.parent  # that of all processes
        kept[driver] = _shared(driver, level, rows, folder)
    return kept[driver]


def _base(request: pytest.FixtureRequest) -> str:
    node: pytest.Item = request.node
    return node.nodeid.partition("[")[0]


def _shared(driver: str, level: str, rows: Sequence[str], folder: Path) -> dict[str, Any]:
    """The results that the first of several processes makes, and the others wait for."""
    file = folder / f"looptck-{hashlib.sha256(driver.encode()).hexdigest()[:16]}.json"
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if file.exists():
            found: dict[str, Any] = json.loads(file.read_text("utf-8"))
            return found
        return _run(driver, level, rows, file)


def _run(driver: str, level: str, rows: Sequence[str], file: Path) -> dict[str, Any]:
    """Run the suite. Fails the test where it could not run."""
    chosen = [word for row in rows for word in ("--requirement", row)]
    command = [sys.executable, "-m", "looptck.cli", "run", "-q", "--driver", driver, "--level", level]
    path = os.pathsep.join(filter(None, sys.path))
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(  # noqa: S603 - our own command
        [*command, "--json", str(file), *chosen],
        env={**env, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if not file.exists():
        pytest.fail(f"the suite could not run:\n{done.stdout}{done.stderr}", pytrace=False)
    results: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return results
