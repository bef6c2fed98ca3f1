"""Server-side loops: what Python code has set and written is its session's, and nobody else's."""

from __future__ import annotations

from looptck.checks import requirement
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec.built_in import Coder
from looptck.spec.server_sessions import fresh
from looptck.turns import calls, says
from looptck.verdicts import NotReached

FILE = "looptck-note.txt"
SETS = ("x = 41", f"with open({FILE!r}, 'w') as file: file.write('mine')", "print('x is', x)")
ADDS = ("print('the sum is', x + 1)",)
LOOKS = (
    "import os",
    "try: print('the value is', x)",
    "except NameError: print('nobody', 'set x')",
    f"print('the file is', 'here' if os.path.exists({FILE!r}) else 'elsewhere')",
)
"""Programs; what they print does not stand in them."""


def _printed(coder: Coder, provider: Scene, session: str, program: tuple[str, ...]) -> str:
    """All that is told to the client and the model of a run of a program."""
    provider.plays(calls(coder.call(*program)), says("It has run."))
    run: Run = coder.ask(session=session)
    if run.got.text != "It has run.":
        raise NotReached(f"a request with one call of Python got {run.got}")
    questions = b"".join(received.raw for received in run.requests[-1:])
    return (run.got.raw + questions).decode(errors="replace")


def _set(coder: Coder, provider: Scene) -> str:
    """A session in which a program has set a value and written a file. Raises NotReached where it did not run."""
    session = fresh()
    if "x is 41" not in (printed := _printed(coder, provider, session, SETS)):
        raise NotReached(f"control: the program that sets x was to print it: {printed[-300:]}")
    return session


@requirement("server-code-state-lives-in-the-session")
def test_later_request(provider: Scene, guest: Guest) -> None:
    """What a program has set in one request is there for that of the next request under the id."""
    coder = Coder.of(guest)
    session = _set(coder, provider)

    printed = _printed(coder, provider, session, ADDS)

    assert "the sum is 42" in printed, f"x is not there in the next request: {printed[-300:]}"


@requirement("server-code-state-stays-in-its-session")
def test_other_session(provider: Scene, guest: Guest) -> None:
    """A program of another session finds neither the value nor the file."""
    coder = Coder.of(guest)
    session = _set(coder, provider)
    if "the sum is 42" not in _printed(coder, provider, session, ADDS):
        raise NotReached("control: what a program has set is not there in its own session either")

    printed = _printed(coder, provider, fresh(), LOOKS)

    assert "the value is 41" not in printed, "a program sees what that of another session has set"
    assert "the file is here" not in printed, "a program sees a file that that of another session has written"
    assert "nobody set x" in printed, f"the program of the other session did not say what it found: {printed[-300:]}"
    assert "the file is elsewhere" in printed
