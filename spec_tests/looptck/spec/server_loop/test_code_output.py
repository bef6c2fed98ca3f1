"""Server-side loops: what the model reads of a program that it has written, and what follows."""

from __future__ import annotations

from looptck.bench.checks import on, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import CHAT, Coder
from looptck.values.plain import plain
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotApplicable, NotReached


@requirement("server-output-of-code-reaches-the-model")
def test_output(scenario: Scenario, server: ServerUnderTest) -> None:
    """The next model request has each of the lines that the program printed before it failed, and its exception."""
    coder = Coder.of(server)
    scenario.plays(
        calls(coder.call("print('seineewt'[::-1])", "print(6 * 7)", "raise ValueError('snidab'[::-1])")), says("Done.")
    )

    run = coder.ask()

    text = "".join(answer.text for answer in run.new_answers(1))
    for what, wanted in (("first line", "tweenies"), ("second line", "42"), ("exception", "badins")):
        assert wanted in text, f"the {what} of the program's output is {wanted!r}, and the model reads {plain(text)}"


@requirement("server-failing-tool-is-fed-back")
@on(CHAT)
def test_failing_program(scenario: Scenario, server: ServerUnderTest) -> None:
    """A program that raises an exception does not end the run: the model answers."""
    if not server.can("code"):
        raise NotApplicable("the server does not run Python")
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("pass")), says("Done."))
    if not (control := coder.ask()).got.ok:
        raise NotReached(f"control: a program that does nothing should run; the client got {control.got}")
    scenario.plays(calls(coder.call("raise ValueError('no such town')")), says("Done."))

    run = coder.ask()

    server.reached(run, 1)
    assert run.got.ok, f"a program raised an exception, and the client got {run.got}"
    assert "Done." == run.got.text
