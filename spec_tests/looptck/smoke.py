"""The smoke test of a driver, which tells whether it speaks the protocol in every mode that it offers.

It says nothing about the implementation behind the driver, so that a broken driver is never scored as a broken loop.
"""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from looptck.cells import Cell, cells
from looptck.drivers import AGENT_LOOP, DriverFault, Started
from looptck.handover import Setting
from looptck.kit import Kit, Patience, Scene
from looptck.outcome import Nothing, Value
from looptck.run import Run
from looptck.solutions import activity, call, solution
from looptck.turns import Call, calls, says
from looptck.wires import WIRES


class Unfit(Exception):
    """A driver that keeps to the protocol's letter, but does not do what it promises."""


def smoke_test(driver: str, timeout: float) -> int:
    """Try a driver out and print what it can and cannot do; exit status 0, 1 (at fault) or 2 (could not start)."""
    console = Console(width=None if Console().is_terminal else 140)
    kit = None
    try:
        kit = Kit(driver, Patience(outcome=timeout))
        kit.__enter__()
    except (DriverFault, ValueError) as error:
        _say(console, "start", str(error))
        return 2
    started = kit.started
    console.print(f"{started.name} {started.version} ({started.language})", markup=False, highlight=False)
    _say(console, "start", None)
    faults = 0
    for cell in cells(started, WIRES):
        if not started.can(cell.needs):
            continue
        for name, check in checks(started).items():
            told = _complaint(kit, cell, name, check)
            faults += told is not None
            _say(console, f"{name} [{cell}]", told)
    kit.__exit__()
    for fault in kit.late_faults:
        faults += 1
        _say(console, "afterwards", str(fault))
    return 1 if faults else 0


def _complaint(kit: Kit, cell: Cell, name: str, check: Callable[[Kit, Cell, str], None]) -> str | None:
    try:
        check(kit, cell, name)
    except (DriverFault, Unfit) as error:
        return str(error)
    return None


def _answers(kit: Kit, cell: Cell, name: str) -> None:
    """An answer without tools comes back as a value, in chunks where the driver declares that it sends them."""
    scene = Scene()
    scene.plays(says("Hello from the model."))
    run = kit.begin(scene, cell, name=name).result()
    _reached(run)
    if not isinstance(run.outcome, Value) or run.outcome.text != "Hello from the model.":
        raise Unfit(f"the model said 'Hello from the model.', and the driver reported that the loop {run.outcome}")
    if cell.stream and kit.started.can("chunks") and not run.chunks:
        raise Unfit("the driver declares the capability `chunks` and sent no `chunk`")


def _runs_a_tool(kit: Kit, cell: Cell, name: str) -> None:
    """A tool's handler reaches the toolbox with the arguments."""
    scene = Scene()
    scene.plays(calls(Call.of("weather", {"city": "Paris"})), says("Warm."))
    run = kit.begin(scene, cell, name=name).result()
    _reached(run)
    if run.tools_ran != [("weather", {"city": "Paris"})]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of weather; the loop {run.outcome}")


def _reached(run: Run) -> None:
    if isinstance(run.outcome, Nothing):
        raise Unfit(f"the run reached the provider, but the driver {run.outcome}")
    if not run.requests:
        raise Unfit(
            f"no model request came to the base URL of the case; the driver reported that the loop {run.outcome}"
        )


def _returns_an_output(kit: Kit, cell: Cell, name: str) -> None:
    """The output of a Solution comes back as it is."""
    scene = Scene()
    scene.plays(solution(output={"greeting": "Hello from the model."}))
    run = _of_solutions(kit, scene, cell, name)
    if not isinstance(run.outcome, Value) or run.outcome.output != {"greeting": "Hello from the model."}:
        raise Unfit(f"the Solution's output was a greeting, and the driver reported that the loop {run.outcome}")


def _runs_a_call(kit: Kit, cell: Cell, name: str) -> None:
    """An Activity reaches the toolbox with the parameters, and without the underscore keys."""
    scene = Scene()
    scene.plays(solution(call("weather", {"city": "Paris"}, to="†state.weather"), output="Warm."))
    run = _of_solutions(kit, scene, cell, name)
    if run.tools_ran != [("weather", {"city": "Paris"})]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of weather; the loop {run.outcome}")


def _of_solutions(kit: Kit, scene: Scene, cell: Cell, name: str) -> Run:
    context = [{"type": "text", "text": "Go."}]
    setting = Setting(context=context, output_schema={}, tools=[activity("weather", city="string")])
    run = kit.begin(scene, cell, name=name, profile=AGENT_LOOP, setting=setting).result()
    _reached(run)
    return run


Checks = dict[str, Callable[[Kit, Cell, str], None]]
CHECKS: Checks = {"answer": _answers, "tool": _runs_a_tool}
SOLUTION_CHECKS: Checks = {"output": _returns_an_output, "call": _runs_a_call}


def checks(started: Started) -> Checks:
    """What a driver is tried out with: the model of a loop of Solutions speaks in those."""
    return SOLUTION_CHECKS if AGENT_LOOP in started.profiles else CHECKS


def _say(console: Console, what: str, wrong: str | None) -> None:
    line = Text("ok    " if wrong is None else "FAULT ", style="green" if wrong is None else "bold red")
    line.append(what, style="default")
    if wrong is not None:
        line.append(f"\n      {wrong}", style="default")
    console.print(line, soft_wrap=True)
