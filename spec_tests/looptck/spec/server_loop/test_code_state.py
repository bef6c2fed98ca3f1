"""Server-side loops: variables and files of Python code belong to one session."""

from __future__ import annotations

from looptck.bench.checks import requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import Coder
from looptck.spec.server_loop.replies import results_of_all
from looptck.spec.server_loop.sessions import fresh
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotApplicable, NotReached

FILE = "looptck-note.txt"
SETS = ("x = 41", f"with open({FILE!r}, 'w') as file: file.write('mine')", "print('x is', x)")
ADDS = ("print('the sum is', x + 1)",)
LOOKS = (
    "import os",
    "try: print('the value is', x)",
    "except NameError: print('nobody', 'set x')",
    f"print('the file is', 'here' if os.path.exists({FILE!r}) else 'elsewhere')",
)
"""Programs; their output does not appear in their source."""


def _printed(coder: Coder, scenario: Scenario, session: str, program: tuple[str, ...]) -> str:
    """What the client and the model get of a program's output, the latest last."""
    scenario.plays(calls(coder.call(*program)), says("It has run."))
    run: Run = coder.ask(session=session)
    if run.got.text != "It has run.":
        raise NotReached(f"a request with one call of Python got {run.got}")
    return "\n".join(results_of_all(run))


def _set(coder: Coder, scenario: Scenario) -> str:
    """A session in which a program has set a variable and written a file. Raises NotReached if it did not run."""
    session = fresh()
    if "x is 41" not in (printed := _printed(coder, scenario, session, SETS)):
        raise NotReached(f"control: the program that sets x should print it: {printed[-300:]}")
    return session


@requirement("server-code-state-lives-in-the-session")
def test_later_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """A variable that a program has set in one request exists in the session's next request."""
    coder = Coder.of(server)
    session = _set(coder, scenario)

    printed = _printed(coder, scenario, session, ADDS)

    assert "the sum is 42" in printed, f"the next program of the session does not find x; its output: {printed[-300:]}"


@requirement("server-code-state-stays-in-its-session")
def test_other_session(scenario: Scenario, server: ServerUnderTest) -> None:
    """A program of another session finds neither the variable nor the file, of which its own session keeps one."""
    coder = Coder.of(server)
    session = _set(coder, scenario)
    own = _printed(coder, scenario, session, LOOKS)
    if "the value is 41" not in own and "the file is here" not in own:
        raise NotApplicable("neither variables nor files of a program exist in the next program of its own session")

    printed = _printed(coder, scenario, fresh(), LOOKS)

    assert "the value is 41" not in printed, "a program sees a variable of another session"
    assert "the file is here" not in printed, "a program sees a file of another session"
    assert "nobody set x" in printed, f"the program of the other session did not print its findings: {printed[-300:]}"
    assert "the file is elsewhere" in printed
