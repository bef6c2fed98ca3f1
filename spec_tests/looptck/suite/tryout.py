"""Testing a driver: two short runs in a cell, and whether the driver or the loop is to blame for a run that goes wrong.

A model request shows that the driver and the loop reached the provider; the tools in the request show what the driver
passed to the loop. Whatever goes wrong after that is attributed to the loop and not to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from looptck.bench.answering import WORD, hint, own_tools, ruled_out
from looptck.bench.bench import Bench
from looptck.bench.benches import loop_bench, server_bench
from looptck.bench.client import Ask
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, solution
from looptck.bench.standing import refusals
from looptck.catalogue.dialects import accepting
from looptck.drivers import AGENT_LOOP, DriverFault, Started
from looptck.drivers.case_message import RunOptions
from looptck.drivers.mends import FINISHED
from looptck.values.cell import Cell
from looptck.values.history import leaves
from looptck.values.outcome import Failed, Nothing, Value
from looptck.values.transcript import UnroutedRequest
from looptck.values.turns import Call, calls, says
from looptck.wires import WIRES

ANSWER = "Hello from the model."
NOT_PLAYED = tuple(
    f"/v1/{name}" for name in ("conversations", "files", "vector_stores", "containers", "threads", "skills")
)
"""Where the services have endpoints beside those of the wires that a loop may use, and the provider has none."""
UNSENT = (
    "call `emit` with each piece of text where the loop hands it to its caller, such as in its callback for streams; a "
    "loop whose caller gets the whole text alone does not declare `chunks`"
)
WHOLE_PROMPT = 'hand all of case["messages"] to the loop, in order'
TOOL, ARGUMENTS = "weather", {"city": "Paris"}
OF_SOLUTIONS = ("latent", "expressions", "methods", "plans", "instances")
"""Capabilities that only loops of Solutions have."""


MOST_LOGGED = 4
"""The most lines of a server's log in a message."""


class Unfit(Exception):
    """The driver sends valid messages, but does not do what the protocol asks of it.

    Attributes:
        mend: what mends it, if it is a usual mistake.
    """

    def __init__(self, why: str, *, mend: str = "") -> None:
        super().__init__(why)
        self.mend = mend


class Unreached(Unfit):
    """The provider received no model request."""


class UnexpectedLoop(Exception):
    """The driver works, but the loop behaves differently than these runs expect."""


Check = Callable[[Bench, Cell, str], None]
"""Plays a run in a cell under a name. Raises Unfit, UnexpectedLoop or DriverFault."""


NO_CLAIM = (
    f"the driver does not claim {AGENT_LOOP}, so it gets cases without `context`; a loop of Solutions claims it: "
    f'started(…, profiles=["{AGENT_LOOP}"])'
)


def _is_of_solutions(started: Started) -> bool:
    return AGENT_LOOP in started.profiles


def checks(started: Started) -> dict[str, Check]:
    """The tests for a driver: of a server, of a loop whose model writes Solutions, or of any other loop."""
    if started.serves:
        return SERVER_CHECKS
    return SOLUTION_CHECKS if _is_of_solutions(started) else CHECKS


def unreached(bench: Bench, cells: Collection[Cell], profiles: Collection[str] = ()) -> str | None:
    """Why the suite would be pointless: no cell produces a model request; None if one does.

    Each cell is tried twice, since a first run may differ from all others. Other driver faults are ignored here: every
    check reports them. ``profiles`` are those that the user has asked for.
    """
    if [*profiles] == [AGENT_LOOP] and not _is_of_solutions(bench.started):
        return NO_CLAIM
    why = None
    for cell in (*cells, *cells):
        try:
            next(iter(checks(bench.started).values()))(bench, cell, "preflight")
        except Unreached as found:
            why = why or (f"{found}; {found.mend}" if found.mend else str(found))
        except (Unfit, UnexpectedLoop, DriverFault):
            return None
        else:
            return None
    return why


def _answers(bench: Bench, cell: Cell, name: str) -> None:
    """An answer without tools is returned as a value, and in chunks if the driver declares the capability `chunks`."""
    scenario = Scenario()
    scenario.plays(says(ANSWER))
    run = loop_bench(bench).begin(scenario, cell, name=name).result()
    _reached(run, bench.started)
    _hands_the_prompt_on(run)
    _offers_its_answer_tool(bench.started, run)
    answered = f"the model answered {ANSWER!r}"
    if len(run.requests) > 1:
        raise UnexpectedLoop(_with_hint(f"{answered}, and the loop asked it again instead of ending", run))
    if isinstance(run.outcome, Failed):
        raise UnexpectedLoop(_with_hint(f"{answered}, and the loop {run.outcome}", run))
    if bench.started.answer is not None and isinstance(run.outcome, Value) and run.outcome.text != ANSWER:
        raise UnexpectedLoop(f"{answered} by a call of {bench.started.answer.tool}, and the loop {run.outcome}")
    if not isinstance(run.outcome, Value) or run.outcome.text != ANSWER:
        raise Unfit(f"the model said {ANSWER!r}, and the driver reported that the loop {run.outcome}")
    if cell.stream and bench.started.can("chunks") and not run.chunks:
        raise Unfit("the driver declares the capability `chunks` and sent no `chunk`", mend=UNSENT)
    _keeps_the_instructions(run)


def _hands_the_prompt_on(run: Run) -> None:
    """The request has what the user says; a loop may put words of its own around it."""
    if missing := _missing(run, "user"):
        raise Unfit(f"the request does not have the user's words {missing!r}", mend=WHOLE_PROMPT)


def _keeps_the_instructions(run: Run) -> None:
    """The request has the instructions too, which a driver may forget, or a loop drop."""
    if missing := _missing(run, "system"):
        raise UnexpectedLoop(f"the request does not have the instructions {missing!r}; {WHOLE_PROMPT}")


def _missing(run: Run, role: str) -> str:
    """The first text of the prompt by this role that is not in the request; empty if there is none."""
    if run.program is not None:
        return ""
    sent = [*leaves(run.request(1).body)]
    return next((text for one, text in run.prompt if one == role and not any(text in leaf for leaf in sent)), "")


def _offers_its_answer_tool(started: Started, run: Run) -> None:
    if run.program is None and started.answer is not None and started.answer.tool not in own_tools(run):
        raise Unfit(
            f"the driver declares `answer` with the tool {started.answer.tool}, which the request does not offer"
        )


def _with_hint(why: str, run: Run) -> str:
    found = hint(run) if run.program is None else ""
    return f"{why}; {found}" if found else why


def _runs_a_tool(bench: Bench, cell: Cell, name: str) -> None:
    """A tool's handler calls the toolbox with the arguments, and the loop asks the model again."""
    scenario = Scenario()
    scenario.plays(calls(Call.of(TOOL, ARGUMENTS)), says("Warm."))
    run = loop_bench(bench).begin(scenario, cell, name=name).result()
    _reached(run, bench.started)
    offered = [tool.name for tool in run.request(1).request.tools]
    if run.program is None and TOOL not in offered:
        raise Unfit(
            f"the request offers {', '.join(offered) or 'no tool'}, not {TOOL}: hand the case's tools to the loop"
        )
    if not run.tools_ran:
        why = f"the model called {TOOL}, which never ran{_sent(run)}"
        raise UnexpectedLoop(f"{why}; the loop {run.outcome}")
    if run.tools_ran != [(TOOL, ARGUMENTS)]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of {TOOL} with {ARGUMENTS}")
    if len(run.requests) < 2:
        raise UnexpectedLoop(f"{TOOL} ran, and the model was not asked again: the loop {run.outcome}")
    if isinstance(run.outcome, Failed):
        raise UnexpectedLoop(_with_hint(f"{TOOL} ran and the model answered, and the loop {run.outcome}", run))
    if run.program is None and (choice := ruled_out(run.request(2).body, bench.started.answer)) is not None:
        raise UnexpectedLoop(f"the request after {TOOL} has the {choice}, so no model can ever answer it; {WORD}")


def _sent(run: Run) -> str:
    """The tool result that the loop sent although the tool did not run."""
    texts = [answer.text for answer in run.requests[1].request.answers] if len(run.requests) > 1 else []
    return f"; the loop sent the tool result {texts[0]!r}" if texts else ""


def _reached(run: Run, started: Started) -> None:
    if not run.requests:
        strays = [event for event in run.transcript.events if isinstance(event, UnroutedRequest)]
        if strays and strays[0].why:
            raise Unreached(f"a request was not read: {strays[0].told}; the loop {run.outcome}")
        unrouted = [event.path for event in strays]
        if unrouted and unrouted[0].startswith(NOT_PLAYED):
            raise Unreached(f"a request came to {unrouted[0]}, an endpoint of the service that looptck does not play")
        if unrouted:
            raise Unreached(
                f"a request came to {unrouted[0]}, which is no route of the wire: the base URL of a case ends in /v1, "
                f"and the routes of {run.cell.wire} are below it; the loop {run.outcome}",
                mend=_mended(unrouted[0], run.cell.wire),
            )
        raise Unreached(
            f"no model request came to the base URL of the case; the driver reported that the loop {run.outcome}",
            mend=_unclaimed(started),
        )
    if isinstance(run.outcome, Nothing):
        raise Unfit(f"the run reached the provider, but the driver {run.outcome}", mend=FINISHED)
    if refusal := next(refusals(run), None):
        raise UnexpectedLoop(f"the service refuses the request: {refusal}{_spoken_elsewhere(run)}")


def _spoken_elsewhere(run: Run) -> str:
    """The dialects of servers that accept the first thing that is refused; empty where there are none."""
    problem = next(one for received in run.received for one in received.problems)
    if not (found := accepting(run.cell.wire, problem.rule, problem.pointer)):
        return ""
    others = f" (or {', '.join(found[1:])})" if found[1:] else ""
    return f"; if the loop is made for another server that accepts it: looptck run --dialect {found[0]}{others}"


def _unclaimed(started: Started) -> str:
    """What mends a driver that declares what only loops of Solutions can do, and does not claim to be one."""
    return NO_CLAIM if any(map(started.can, OF_SOLUTIONS)) and not _is_of_solutions(started) else ""


def _mended(path: str, wire: str) -> str:
    """What mends a driver whose request came to this path and not to that of the wire."""
    if path.startswith("/v1/v1/"):
        return "this client appends /v1 itself: give it the base URL without its /v1"
    if not path.startswith("/v1/"):
        return "this client appends no /v1: give it the base URL as it is, with its /v1"
    other = next((one.name for one in WIRES.values() if path == f"/v1{one.route}"), wire)
    return "" if other == wire else f"{path} is the route of {other}: declare that wire in `started`, or ask on {wire}"


def _returns_an_output(bench: Bench, cell: Cell, name: str) -> None:
    """The output of a Solution is returned unchanged."""
    scenario = Scenario()
    scenario.plays(solution(output={"greeting": ANSWER}))
    run = _of_solutions(bench, scenario, cell, name)
    if not isinstance(run.outcome, Value) or run.outcome.output != {"greeting": ANSWER}:
        raise Unfit(f"the Solution's output was a greeting, and the driver reported that the loop {run.outcome}")


def _runs_a_call(bench: Bench, cell: Cell, name: str) -> None:
    """An Activity calls the toolbox with the parameters and without the underscore keys."""
    scenario = Scenario()
    scenario.plays(solution(call(TOOL, ARGUMENTS, to="†state.weather"), output="Warm."))
    run = _of_solutions(bench, scenario, cell, name)
    if run.tools_ran != [(TOOL, ARGUMENTS)]:
        raise Unfit(f"the toolbox saw {run.tools_ran}, not one call of {TOOL}; the loop {run.outcome}")


def _of_solutions(bench: Bench, scenario: Scenario, cell: Cell, name: str) -> Run:
    context = [{"type": "text", "text": "Go."}]
    options = RunOptions(context=context, output_schema={}, tools=[activity(TOOL, city="string")])
    run = loop_bench(bench).begin(scenario, cell, name=name, profile=AGENT_LOOP, options=options).result()
    _reached(run, bench.started)
    return run


def _serves(bench: Bench, cell: Cell, name: str) -> None:
    """The client receives the model's answer; if looptck plays the model, the question reached it."""
    scenario = Scenario()
    scenario.plays(says(ANSWER))
    run = server_bench(bench).ask(scenario, cell, Ask(question="Please greet me.")).result()
    if not run.got.ok:
        raise Unfit(f"the server answered with {run.got}{_logged(run)}")
    if bench.started.can("upstream"):
        _reached(run, bench.started)
    if ANSWER not in (run.got.text or ""):
        raise UnexpectedLoop(f"the model answered {ANSWER!r}, and the client received {run.got.text!r}")


def _logged(run: Run) -> str:
    """The last lines that the server has written meanwhile, as more lines of a message."""
    lines = [line for line in (run.log or "").splitlines() if line.strip()]
    return "".join(f"\n      {line}" for line in ["its log ends with:", *lines[-MOST_LOGGED:]]) if lines else ""


CHECKS: dict[str, Check] = {"answer": _answers, "tool": _runs_a_tool}
SOLUTION_CHECKS: dict[str, Check] = {"output": _returns_an_output, "call": _runs_a_call}
SERVER_CHECKS: dict[str, Check] = {"question": _serves}
