"""Traits of choices: of a tool that there is not, and of no tool by a model that calls one."""

from __future__ import annotations

from looptck.bench.choices import chosen
from looptck.catalogue.traits import trait
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

STRANGER = "no_such_tool"


@trait("choice-of-no-tool")
def test_choice_of_no_tool(loop: Loop) -> None:
    """The caller names a tool that is none of the case's."""
    run = loop.plays(says("Hello."), tool_choice={"tool": STRANGER})

    if isinstance(run.outcome, Failed) and not run.requests:
        loop.answers("error-at-once", error_text(run.outcome))
        return
    received = run.request(1)
    sent = any(STRANGER in problem.message for problem in received.problems)
    loop.answers("sent" if sent else "not-sent", chosen(run, received).words)


@trait("call-despite-none")
def test_call_despite_none(loop: Loop) -> None:
    """The request says that no tool may be called, and the model calls one, as that of some servers does."""
    run = loop.plays(calls(Call.of("weather", {"city": "Paris"})), says("Done."), tool_choice="none")

    if not run.request(1).request.tools:
        raise NotApplicable("the request offers no tools, so no model can call one")
    run.delivered(1)
    unrun = "answered" if len(run.requests) > 1 else "run-ends"
    loop.answers("runs" if run.ran else unrun, run.outcome)
