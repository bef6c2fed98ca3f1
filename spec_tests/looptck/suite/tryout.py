"""Trying a driver out: two short runs in a cell, and whose doing it is where they do not come to their end.

A request on the wire shows that driver and loop reached the provider, and what it offers shows what the driver has
handed over. What goes wrong behind that is the loop's doing, as far as anybody can tell, and no fault of the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from looptck.bench.bench import Bench, Scenario
from looptck.bench.benches import loop_bench, server_bench
from looptck.bench.run import Run
from looptck.bench.solutions import activity, call, solution
from looptck.bench.standing import refusals
from looptck.client import Ask
from looptck.drivers import AGENT_LOOP, DriverFault, Started
from looptck.drivers.case_message import RunOptions
from looptck.values.cell import Cell
from looptck.values.outcome import Failed, Nothing, Value
from looptck.values.transcript import UnroutedRequest
from looptck.values.turns import Call, calls, says

ANSWER = "Hello from the model."
TOOL, ARGUMENTS = "weather", {"city": "Paris"}


class Unfit(Exception):
    """A driver that keeps to the protocol's letter, but does not do what it promises."""


class Unreached(Unfit):
    """No model request came."""


class LoopsDoing(Exception):
    """The driver has done its part, and the loop does something else than these runs are for."""


Check = Callable[[Bench, Cell, str], None]
"""Plays a run in a cell under a name. Raises Unfit, LoopsDoing, or DriverFault."""


def checks(started: Started) -> dict[str, Check]:
    """What a driver is tried out with: the model of a loop of Solutions speaks in those, and a server is asked."""
    if started.serves:
        return SERVER_CHECKS
    return SOLUTION_CHECKS if AGENT_LOOP in started.profiles else CHECKS


def unreached(bench: Bench, cells: Collection[Cell]) -> str | None:
    """Why no run can come to anything: in none of these cells does a model request come; None: in one it does.

    Each is tried twice, as a first run may differ from all others. What a driver does wrong is no answer: every check
    will tell it.
    """
    why = None
    for cell in (*cells, *cells):
        try:
            next(iter(checks(bench.started).values()))(bench, cell, "preflight")
        except Unreached as found:
            why = why or str(found)
        except (Unfit, LoopsDoing, DriverFault):
            return None
        else:
            return None
    return why


def _answers(bench: Bench, cell: Cell, name: str) -> None:
    """An answer without tools comes back as a value, in chunks where the driver declares that it sends them."""
    scenario = Scenario()
    scenario.plays(says(ANSWER))
    run = loop_bench(bench).begin(scenario, cell, name=name).result()
    _reached(run)
    if len(run.requests) > 1:
        raise LoopsDoing(f"the model answered {ANSWER!r}, and the loop asked it again: it does not end with a text")
    if isinstance(run.outcome, Failed):
        raise LoopsDoing(f"the model answered {ANSWER!r}, and the loop {run.outcome}")
    if not isinstance(run.outcome, Value) or run.outcome.text != ANSWER:
        raise Unfit(f"the model said {ANSWER!r}, and the driver reported that the loop {run.outcome}")
    if cell.stream and bench.started.can("chunks") and not run.chunks:
        raise Unfit("the driver declares the capability `chunks` and sent no `chunk`")


def _runs_a_tool(bench: Bench, cell: Cell, name: str) -> None:
    """A tool's handler reaches the toolbox with the arguments, and the loop goes on behind it."""
    scenario = Scenario()
    scenario.plays(calls(Call.of(TOOL, ARGUMENTS)), says("Warm."))
    run = loop_bench(bench).begin(scenario, cell, name=name).result()
    _reached(run)
    offered = [tool.name for tool in run.request(1).request.tools]
    if TOOL not in offered:
        raise Unfit(
            f"the request offers {', '.join(offered) or 'no tool'}, not {TOOL}: hand the case's tools to the loop"
        )
    if not run.tools_ran:
        raise LoopsDoing(f"the model called {TOOL}, which never ran{_told_instead(run)}; the loop {run.outcome}")
    if run.tools_ran != [(TOOL, ARGUMENTS)]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of {TOOL} with {ARGUMENTS}")
    if len(run.requests) < 2:
        raise LoopsDoing(f"{TOOL} ran, and the model was not asked again: the loop {run.outcome}")
    if isinstance(run.outcome, Failed):
        raise LoopsDoing(f"{TOOL} ran and the model answered, and the loop {run.outcome}")


def _told_instead(run: Run) -> str:
    """What the model was told of the call in place of a result."""
    texts = [answer.text for answer in run.requests[1].request.answers] if len(run.requests) > 1 else []
    return f"; the model was told {texts[0]!r}" if texts else ""


def _reached(run: Run) -> None:
    if not run.requests:
        unrouted = [event.path for event in run.transcript.events if isinstance(event, UnroutedRequest)]
        if unrouted:
            raise Unreached(
                f"a request came to {unrouted[0]}, which is no route of the wire: the base URL of a case ends in /v1, "
                f"and {run.cell.wire} lies below it; the loop {run.outcome}"
            )
        raise Unreached(
            f"no model request came to the base URL of the case; the driver reported that the loop {run.outcome}"
        )
    if isinstance(run.outcome, Nothing):
        raise Unfit(f"the run reached the provider, but the driver {run.outcome}")
    if told := next(refusals(run), None):
        raise LoopsDoing(f"the service takes no such request: {told}")


def _returns_an_output(bench: Bench, cell: Cell, name: str) -> None:
    """The output of a Solution comes back as it is."""
    scenario = Scenario()
    scenario.plays(solution(output={"greeting": ANSWER}))
    run = _of_solutions(bench, scenario, cell, name)
    if not isinstance(run.outcome, Value) or run.outcome.output != {"greeting": ANSWER}:
        raise Unfit(f"the Solution's output was a greeting, and the driver reported that the loop {run.outcome}")


def _runs_a_call(bench: Bench, cell: Cell, name: str) -> None:
    """An Activity reaches the toolbox with the parameters, and without the underscore keys."""
    scenario = Scenario()
    scenario.plays(solution(call(TOOL, ARGUMENTS, to="†state.weather"), output="Warm."))
    run = _of_solutions(bench, scenario, cell, name)
    if run.tools_ran != [(TOOL, ARGUMENTS)]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of {TOOL}; the loop {run.outcome}")


def _of_solutions(bench: Bench, scenario: Scenario, cell: Cell, name: str) -> Run:
    context = [{"type": "text", "text": "Go."}]
    options = RunOptions(context=context, output_schema={}, tools=[activity(TOOL, city="string")])
    run = loop_bench(bench).begin(scenario, cell, name=name, profile=AGENT_LOOP, options=options).result()
    _reached(run)
    return run


def _serves(bench: Bench, cell: Cell, name: str) -> None:
    """A question reaches the model, where the kit plays it, and the answer comes back."""
    scenario = Scenario()
    scenario.plays(says(ANSWER))
    run = server_bench(bench).ask(scenario, cell, Ask(question="Please greet me.")).result()
    if not run.got.ok:
        raise Unfit(f"the server answered with {run.got}")
    if bench.started.can("upstream"):
        _reached(run)
    if ANSWER not in (run.got.text or ""):
        raise LoopsDoing(f"the model answered {ANSWER!r}, and the client got {run.got.text!r}")


CHECKS: dict[str, Check] = {"answer": _answers, "tool": _runs_a_tool}
SOLUTION_CHECKS: dict[str, Check] = {"output": _returns_an_output, "call": _runs_a_call}
SERVER_CHECKS: dict[str, Check] = {"question": _serves}
