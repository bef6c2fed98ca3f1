"""Server-side loops: what the model reads of a program that it has written."""

from __future__ import annotations

from looptck.bench.bench import Scenario
from looptck.bench.checks import requirement
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import Coder
from looptck.values.plain import plain
from looptck.values.turns import calls, says


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
