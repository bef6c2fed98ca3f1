"""`looptck serve`: plays a script on a port, and prints what it is asked and what a real service would refuse."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from looptck.bench.cases import cases
from looptck.mock.answers import says
from looptck.mock.findings import described
from looptck.mock.llm import environment
from looptck.mock.requests import Request
from looptck.mock.script_file import Part, ScriptFile, of_case, read
from looptck.mock.serving import Serving
from looptck.provider.script import Step
from looptck.provider.server import HOST, Provider
from looptck.values.frozen import dataclass
from looptck.values.plain import amount, plain
from looptck.values.printable import printable

Say = Callable[[str], None]
LOOK = 0.2
"""Seconds between two looks at whether somebody has asked to end."""
ENDING = 5.0
"""Seconds that a program may take to end once it is asked to."""

GREETING = says("This is looptck. It has no script, so it says this again and again.")
DEFAULT = ScriptFile((Part(None, (GREETING.step,), repeats=True),))
SHORT = 100
LONGEST = 4000


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What is served. ``script`` and ``case``: one of them, or none."""

    script: Path | None
    case: str | None
    port: int
    quiet: bool = False
    """Whether only what is wrong is printed, and not what is right."""
    command: Sequence[str] = ()
    """A program to run with the environment in which SDKs find the port; none: it is served until it is interrupted."""


class CouldNotServe(Exception):
    """Nothing could be served; the text is the reason."""


@dataclass(slots=True)
class _Output:
    """What is printed. Where nobody reads it any more, serving goes on: a program under test notices nothing."""

    print: Say
    is_lost: bool = False

    def __call__(self, text: str) -> None:
        try:
            self.print(text)
        except (OSError, ValueError):
            self.is_lost = True


def serve(options: ServeOptions, print: Say) -> int:
    """Serve until interrupted, or until the program has ended.

    Returns:
        0; 1 where something was wrong or the program has failed; 2 where a program has asked nothing or was ended
        before it had, or where the output cannot be written.

    Raises:
        BadFile: the script is none.
        CouldNotServe: there is no such case, the port is taken, or the program cannot be started.
    """

    def show(request: Request, step: Step | None) -> None:
        if step is None or not options.quiet:
            _print(serving, request, step, say)

    say = _Output(print)
    serving = Serving(_script(options), show)
    ended: int | None = 0
    try:
        with Provider(options.port, serving.answer) as provider:
            _begin(options, provider.origin, serving, say)
            if options.command:
                ended = _run(options.command, environment(provider.origin))
                say("the program was interrupted" if ended is None else f"the program ended with status {ended}")
            else:
                _until_interrupted()
    except OSError as error:
        raise CouldNotServe(
            f"port {options.port} of {HOST} cannot be had: {error.strerror}; --port 0 takes any"
        ) from error
    _end(serving, say)
    asked_nothing = bool(options.command) and serving.endpoint.count == 0
    if asked_nothing:
        say("the program asked nothing, so nothing was judged")
    if asked_nothing or ended is None or say.is_lost:
        return 2
    return 1 if serving.findings or ended else 0


def _script(options: ServeOptions) -> ScriptFile:
    if options.script is None and options.case is None and options.command and not shutil.which(options.command[0]):
        word = options.command[0]
        if word in cases():
            raise CouldNotServe(f"{word} is a case and no program: write --case {word}")
        if word.endswith((".yaml", ".yml")):
            raise CouldNotServe(f"{word} is no program: write --script {word}")
    if options.case is not None:
        try:
            return of_case(options.case)
        except ValueError as error:
            raise CouldNotServe(str(error)) from error
    return DEFAULT if options.script is None else read(options.script)


def _begin(options: ServeOptions, origin: str, serving: Serving, say: Say) -> None:
    say(f"looptck answers at {origin}, as OpenAI Chat Completions, OpenAI Responses and Anthropic Messages")
    for name, value in environment(origin).items():
        say(f"  {name}={value}")
    if options.case is not None:
        _describe(options.case, say)
    if options.script is not None or options.case is not None:
        say(f"its script has {serving.endpoint.playlist.left} turns; POST {origin}/looptck/script sets another")
    else:
        say(f"it has no script: name a file or a --case, or POST one to {origin}/looptck/script")


def _describe(name: str, say: Say) -> None:
    """What a program has to be given so that a case means something for it."""
    case = cases()[name]
    say(f"case {name}: {case.why}")
    say(f"  ask it: {case.question}")
    for tool in case.tools:
        does = case.behaviours.get(tool.name)
        what = f"; {plain(does[0].answer(), SHORT)}" if does else ""
        say(f"  tool {tool.name}: {tool.description} {json.dumps(tool.parameters, ensure_ascii=False)}{what}")


def _print(serving: Serving, request: Request, step: Step | None, say: Say) -> None:
    last = request.messages[-1] if request.messages else "no message"
    mode = "stream" if request.stream else "plain"
    offers = f", offers {', '.join(tool.name for tool in request.tools)}" if request.tools else ""
    line = f"{request.number:>3}  {request.wire} {mode}  {last}{offers}"
    say(printable(line, LONGEST))
    if step is not None:
        say(printable(f"     -> {described(step)}", LONGEST))
        return
    text = serving.endpoint.findings[-1].text
    say(printable("\n".join(f"     !! {part}" for part in text.splitlines()), LONGEST))


def _run(command: Sequence[str], env: dict[str, str]) -> int | None:
    """Run a program to its end: its status; None where looptck was asked to end before that."""
    try:
        program = subprocess.Popen(command, env={**os.environ, **env})  # noqa: S603  it was asked for
    except OSError as error:
        raise CouldNotServe(f"{command[0]} cannot be started: {error.strerror}") from error
    asked: list[int] = []
    with _signals(asked.append):
        while not asked:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return program.wait(LOOK)
    steps = (program.terminate, program.kill)  # a terminal has told the program of an interrupt already
    for ends in steps if asked[0] != signal.SIGINT else (lambda: None, *steps):
        ends()
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(ENDING)
            break
    return None


@contextlib.contextmanager
def _signals(on_signal: Callable[[int], object]) -> Iterator[None]:
    """Call this with the number of a signal that asks to end, in place of ending at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), lambda number, _: on_signal(number)) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _until_interrupted() -> None:
    """Wait for an interrupt, or for a request to end."""
    over = threading.Event()
    with _signals(lambda _: over.set()):
        over.wait()


def _end(serving: Serving, say: Say) -> None:
    verdicts = serving.verdicts()
    requests, played = amount(verdicts["requests"], "request"), amount(verdicts["played"], "turn")
    say(f"{requests}, {played} played, {verdicts['left']} left")
    for finding in serving.findings:
        say(printable(f"\n{finding.text}", LONGEST))
