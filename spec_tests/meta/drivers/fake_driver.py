"""A driver process: a small loop over plain Chat Completions, with the standard library alone.

    python fake_driver.py [FAULT [CASE]]

It is well behaved, unless a fault is named; with a case, it has the fault in the runs of that case only. Each fault is
a subclass whose docstring states it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any, ClassVar, NoReturn
from urllib import request

Json = dict[str, Any]

FOR_EVER = threading.Event()
MOST_ROUNDS = 30


def post(url: str, body: Json) -> Json:
    """POST JSON, and return the JSON of the response."""
    asked = request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})  # noqa: S310
    with request.urlopen(asked) as reply:  # noqa: S310
        answer: Json = json.load(reply)
    return answer


def ask(case: Json, messages: list[Json]) -> Json:
    """The model's next message."""
    tools = [
        {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
        for tool in case["tools"]
    ]
    body = {"model": case["model"], "messages": messages, "tools": tools}
    message: Json = post(f"{case['base_url']}/chat/completions", body)["choices"][0]["message"]
    return message


def loop(case: Json) -> str:
    """The loop: ask the model and run its calls until it answers."""
    urls = {tool["name"]: tool["url"] for tool in case["tools"]}
    messages = list(case["messages"])
    for _ in range(MOST_ROUNDS):
        message = ask(case, messages)
        if not message.get("tool_calls"):
            return message["content"] or ""
        messages.append(message)
        for call in message["tool_calls"]:
            function = call["function"]
            url = urls[function["name"]]
            value = post(url, {"arguments": json.loads(function["arguments"])})["value"] if url else "no function"
            text = value if isinstance(value, str) else json.dumps(value)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise RuntimeError(f"no answer in {MOST_ROUNDS} rounds")


class Driver:
    """Well behaved."""

    started: ClassVar[Json] = {
        "type": "started", "protocol": 1, "name": "fake", "version": "1", "language": "python",
        "wires": ["openai-chat"], "modes": ["sync"], "profiles": [], "capabilities": {},
    }  # fmt: skip

    def say(self, message: object) -> None:
        """Write one line."""
        self.write(json.dumps(message) + "\n")

    def write(self, text: str) -> None:
        """Write to standard output, and flush it."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def last_words(self, text: str) -> None:
        """Write to standard error."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def start(self) -> None:
        """Answer ``start``."""
        self.say(self.started)

    def run(self, id: str, case: Json) -> None:
        """Answer ``run``."""
        try:
            outcome = {"kind": "value", "text": loop(case)}
        except Exception as error:  # noqa: BLE001 - whatever the loop raises is its outcome
            outcome = {"kind": "error", "reason": "other", "type": type(error).__name__, "message": str(error)}
        self.say({"type": "finished", "id": id, "outcome": outcome})

    def stop(self) -> None:
        """Answer ``stop``, before it exits with status 0."""


class Crashes(Driver):
    """Ends in the middle of a run, with a traceback and status 3."""

    def run(self, id: str, case: Json) -> NoReturn:
        ask(case, case["messages"])
        self.last_words("Traceback: the fake has crashed")
        os._exit(3)


class Segfaults(Driver):
    """Is ended by a signal in the middle of a run, as one in C is that reads where nothing is."""

    def run(self, id: str, case: Json) -> None:
        ask(case, case["messages"])
        self.last_words("parsing the reply")
        os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(Driver):
    """Never reacts to a run."""

    def run(self, id: str, case: Json) -> None:
        self.last_words("waiting for a lock")
        FOR_EVER.wait()


class LoopHangs(Driver):
    """Follows the protocol, but its loop asks the model once and then waits forever."""

    def run(self, id: str, case: Json) -> None:
        ask(case, case["messages"])
        FOR_EVER.wait()


class Babbles(Driver):
    """Prints a log line on standard output, which is reserved for the protocol."""

    def run(self, id: str, case: Json) -> None:
        self.last_words("debug mode is on")
        self.write("Running the case now!\n")
        super().run(id, case)


class AnswersTwice(Driver):
    """Sends the end of a run twice."""

    def run(self, id: str, case: Json) -> None:
        super().run(id, case)
        self.say({"type": "finished", "id": id, "outcome": {"kind": "value", "text": "Once more."}})


class ChunkAfterEnd(Driver):
    """Sends a chunk of a run that it has already finished."""

    def run(self, id: str, case: Json) -> None:
        super().run(id, case)
        self.say({"type": "chunk", "id": id, "text": "late"})


class UnknownId(Driver):
    """Sends a message about an unknown run."""

    def run(self, id: str, case: Json) -> None:
        self.say({"type": "finished", "id": "nobody", "outcome": {"kind": "value", "text": "Hello?"}})
        super().run(id, case)


class HalfLineAndEnd(Driver):
    """Ends in the middle of a line."""

    def run(self, id: str, case: Json) -> NoReturn:
        self.last_words("out of memory")
        self.write(f'{{"type": "finished", "id": "{id}", "outc')
        os._exit(0)


class HalfLineAndHang(Driver):
    """Asks the model, and then hangs in the middle of a line."""

    def run(self, id: str, case: Json) -> None:
        ask(case, case["messages"])
        self.write(f'{{"type": "finished", "id": "{id}", "outc')
        FOR_EVER.wait()


class BadFinished(Driver):
    """Sends an outcome of an unknown kind."""

    def run(self, id: str, case: Json) -> None:
        ask(case, case["messages"])
        self.say({"type": "finished", "id": id, "outcome": {"kind": "success", "text": "Done."}})
        super().run(id, case)


class HalfCharacter(Driver):
    """Sends half of a surrogate pair in a chunk."""

    def run(self, id: str, case: Json) -> None:
        self.say({"type": "chunk", "id": id, "text": "\ud83d"})
        super().run(id, case)


class TypeIsAList(Driver):
    """Sends a message whose type is a list."""

    def run(self, id: str, case: Json) -> None:
        self.say({"type": ["finished"], "id": id})
        super().run(id, case)


class Nested(Driver):
    """Sends a line of extremely nested JSON."""

    def run(self, id: str, case: Json) -> None:
        self.write("[" * 200_000 + "]" * 200_000 + "\n")
        super().run(id, case)


class StartsTwice(Driver):
    """Sends ``started`` again when it gets a run."""

    def run(self, id: str, case: Json) -> None:
        self.start()
        super().run(id, case)


class AnswersUnderTheIdBefore(Driver):
    """Finishes a run under the id of the one before it."""

    ids: ClassVar[list[str]] = []

    def run(self, id: str, case: Json) -> None:
        self.ids.append(id)
        super().run(self.ids[-2:][0], case)


class LeavesAHolder(Driver):
    """Ends in a run, and leaves a process in a session of its own that holds its standard output open for a minute."""

    def run(self, id: str, case: Json) -> NoReturn:
        subprocess.Popen(
            [sys.executable, "-S", "-c", "import threading; threading.Event().wait(60)"], start_new_session=True
        )
        os._exit(3)


class Escapes(Driver):
    """Has sequences for terminals in its name, and in the words of its errors."""

    started: ClassVar[Json] = {**Driver.started, "name": "\x1b[2Jfake" + "e" * 1000}

    def run(self, id: str, case: Json) -> None:
        raised = {"kind": "error", "reason": "other", "type": "E\x1b[31m", "message": "\x1b]0;title\x07\u202eback"}
        ask(case, case["messages"])
        self.say({"type": "finished", "id": id, "outcome": raised})


class ClosesItsOutput(Driver):
    """Closes its standard output in the middle of a run, but does not exit."""

    def run(self, id: str, case: Json) -> None:
        os.close(1)
        FOR_EVER.wait()


class ExitsAtOnce(Driver):
    """Exits before it has sent ``started``."""

    def start(self) -> NoReturn:
        self.last_words("ModuleNotFoundError: no module named the_loop")
        os._exit(7)


class NeverStarts(Driver):
    """Never sends ``started``."""

    def start(self) -> None:
        self.last_words("loading a large model")
        FOR_EVER.wait()


class OtherVersion(Driver):
    """Uses version 2 of the protocol."""

    started: ClassVar[Json] = {**Driver.started, "protocol": 2}


class BadStarted(Driver):
    """Declares an unknown capability."""

    started: ClassVar[Json] = {**Driver.started, "capabilities": {"telepathy": True}}


class UnknownProfile(Driver):
    """Claims a profile that there is not."""

    started: ClassVar[Json] = {**Driver.started, "profiles": ["core-loop"]}


class ChunkBeforeStarted(Driver):
    """Sends a chunk instead of ``started``."""

    started: ClassVar[Json] = {"type": "chunk", "id": "r1", "text": "Hello!"}


class NoGreeting(Driver):
    """Prints a greeting instead of ``started``."""

    def start(self) -> None:
        self.write("Driver ready.\n")


class WillNotStop(Driver):
    """Does not exit after ``stop``."""

    def stop(self) -> None:
        FOR_EVER.wait()


class LeavesAChild(Driver):
    """Starts a process that outlives it and keeps its standard output open; its version is the child's process id."""

    def start(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait(60)"])
        self.say({**self.started, "version": str(child.pid)})


class InterruptsTheKit(Driver):
    """Sends SIGINT to the kit, like Ctrl-C, and answers nothing; its version is its process id.

    It behaves correctly in the trial run that shows that it reaches the provider.
    """

    def start(self) -> None:
        self.say({**self.started, "version": str(os.getpid())})

    def run(self, id: str, case: Json) -> None:
        if case["name"] == "preflight":
            super().run(id, case)
        else:
            os.kill(os.getppid(), signal.SIGINT)


class Backwards(Driver):
    """Behaves correctly: accepts two runs before it begins, and answers the second one first."""

    started: ClassVar[Json] = {**Driver.started, "capabilities": {"concurrent": True}}
    waiting: tuple[str, Json] | None = None

    def run(self, id: str, case: Json) -> None:
        if self.waiting is None:
            self.waiting = id, case
            return
        super().run(id, case)
        super().run(*self.waiting)
        self.waiting = None


def main(fault: str = "Driver", only: str = "") -> None:
    """Serve until ``stop``, or until the kit's process has ended."""
    broken: Driver = globals()[fault]()
    driver = Driver() if only else broken
    broken.start()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "run":
            chosen = broken if message["case"]["name"] == only else driver
            chosen.run(message["id"], message["case"])
        elif message["type"] == "stop":
            broken.stop()
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
