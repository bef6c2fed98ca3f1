"""No fault: a synchronous loop on Chat over http.client, whose runs happen wholly or not at all.

A run works on a copy of its conversation, which takes the copy over when there is an answer: what was cancelled, left,
cut, refused or in error leaves no trace. A second run on a conversation waits for the first. Each call is asked about
right before it runs, in the order of the calls. A run that is suspended has run the calls that need no approval.
"""

# ruff: noqa: BLE001, TRY301
# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import uuid
from collections import defaultdict, deque
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "themes"))

from chat_stream import Assembly

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    ToolFailed,
    as_text,
    chat_tools,
    chat_turn,
    error_text,
    events,
    failure,
    find,
    offered,
    read_arguments,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

BUSY = (408, 409, 429, 500, 502, 503, 504, 529)


class Cancelled(BaseException):
    """The user has cancelled the run, or has left its stream."""


class Halt:
    """A switch that a user pulls once, and what has to be woken then."""

    def __init__(self) -> None:
        self.pulled = threading.Event()
        self.lock = threading.Lock()
        self.wakers: list[Callable[[], None]] = []

    def pull(self) -> None:
        with self.lock:
            self.pulled.set()
            wakers = list(self.wakers)
        for wake in wakers:
            wake()

    def check(self) -> None:
        if self.pulled.is_set():
            raise Cancelled

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call a function if the switch is pulled within the block."""
        with self.lock:
            self.check()
            self.wakers.append(wake)
        try:
            yield
        finally:
            with self.lock:
                self.wakers.remove(wake)

    def sleep(self, seconds: float) -> None:
        if self.pulled.wait(seconds):
            raise Cancelled


class Door:
    """Lets one run in at a time, in the order of arrival."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.queue: deque[threading.Event] = deque()

    @contextmanager
    def entered(self, halt: Halt) -> Iterator[None]:
        """Wait for the turn of the caller."""
        mine = threading.Event()
        with self.lock:
            self.queue.append(mine)
            self.queue[0].set()
        try:
            with halt.waking(mine.set):
                mine.wait()
            halt.check()
            yield
        finally:
            with self.lock:
                self.queue.remove(mine)
                if self.queue:
                    self.queue[0].set()


@contextmanager
def posted(url: str, body: Json, headers: Json, halt: Halt) -> Iterator[http.client.HTTPResponse]:
    """Post JSON, and give the open response; the halt hangs up."""
    place = urlsplit(url)
    headers = {"Content-Type": "application/json", **headers}
    with closing(http.client.HTTPConnection(place.netloc, timeout=TIMEOUT)) as connection:
        connection.connect()
        line: socket.socket = connection.sock

        def hang_up() -> None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        try:
            with halt.waking(hang_up):
                connection.request("POST", place.path, json.dumps(body).encode(), headers)
                with connection.getresponse() as response:
                    yield response
        except (OSError, http.client.HTTPException, ValueError):
            halt.check()
            raise


def ask_kit(url: str, message: Json, halt: Halt) -> Json:
    """Post to the toolbox or to the hook."""
    with posted(url, message, {}, halt) as response:
        reply: Json = json.loads(response.read())
    return reply


def wait_for(response: http.client.HTTPResponse, attempt: int) -> float:
    """Give the seconds until the next try."""
    said = response.headers.get("Retry-After", "")
    with suppress(ValueError):
        return max(0.0, float(response.headers.get("Retry-After-Ms", "")) / 1000)
    with suppress(ValueError):
        return max(0.0, float(said))
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    return 0.05 * 2**attempt


def to_chat(message: Json) -> Json:
    """Write a message of the caller as Chat has it."""
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["call_id"], "content": message["content"]}
    if not message.get("calls"):
        return {"role": message["role"], "content": message["content"]}
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for call in message["calls"]
    ]
    return {"role": "assistant", "content": message["content"] or None, "tool_calls": calls}


class Agent:
    """What all runs of an agent have in common; no run changes it."""

    def __init__(self, case: Json) -> None:
        self.url = f"{case['base_url']}/chat/completions"
        self.key = {"Authorization": f"Bearer {case['api_key']}"}
        self.model = case["model"]
        self.tools = offered(case["tools"])


class Memory:
    """The messages of a conversation."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.door = Door()


class Run:
    """One run: its copy of the messages, and what it has asked."""

    tries = 3

    def __init__(self, agent: Agent, case: Json, halt: Halt, before: list[Json]) -> None:
        self.agent, self.case, self.halt = agent, case, halt
        self.messages = [*before, *self.prompt()]
        self.begun = len(before)
        self.asked = 0

    def prompt(self) -> list[Json]:
        return [to_chat(message) for message in self.case["messages"]]

    # -- the model

    def body(self) -> Json:
        body: Json = {"model": self.agent.model, "messages": self.messages}
        if self.agent.tools:
            body["tools"] = chat_tools(self.agent.tools)
        return body | ({"stream": True} if self.case["stream"] else {})

    @contextmanager
    def reply(self) -> Iterator[http.client.HTTPResponse]:
        """Give the open reply of the model; busy services are asked again."""
        body = self.body()
        for attempt in range(self.tries):
            with posted(self.agent.url, body, self.agent.key, self.halt) as response:
                if response.status < http.HTTPStatus.BAD_REQUEST:
                    yield response
                    return
                said = response.read()[:500]
            delay = wait_for(response, attempt)
            if response.status not in BUSY or attempt + 1 == self.tries or delay > TIMEOUT:
                break
            self.halt.sleep(delay)
        raise Stopped("provider", f"status {response.status}: {said!r}")

    def turn(self) -> Generator[str, None, tuple[Json, str]]:
        """Ask once: yield the pieces of the text, return the message and why it ends."""
        self.asked += 1
        if not self.case["stream"]:
            with self.reply() as response:
                whole = json.loads(response.read())
            if not isinstance(whole, dict) or not whole.get("choices"):
                raise Stopped("provider", f"no choices: {whole}")
            choice = whole["choices"][0]
            return choice.get("message") or {}, choice.get("finish_reason") or "stop"
        pieces: list[str] = []
        assembly = Assembly(pieces.append)
        with self.reply() as response:
            for data in events(iter(lambda: response.read1(65536), b"")):
                if data == "[DONE]":
                    break
                chunk = json.loads(data)
                if isinstance(chunk, dict):
                    assembly.on_chunk(chunk)
                yield from pieces
                pieces.clear()
            self.halt.check()
        found = assembly.reply()
        return found.message, found.reason

    # -- the loop

    def go(self) -> Generator[str, None, Json]:
        """Ask and run until there is an answer or a question for the user; yield text as it comes."""
        while self.asked < self.case["options"].get("limit", LIMIT):
            message, reason = yield from self.turn()
            if message.get("refusal"):
                raise Stopped("refusal", message["refusal"])
            if reason in ("length", "content_filter"):
                raise Stopped("truncated", f"the turn was cut: {reason}")
            turn = chat_turn(message)
            if not turn["tool_calls"]:
                return self.answered(turn)
            turn["tool_calls"] = [
                {**call, "id": call.get("id") or f"call_{uuid.uuid4().hex}"} for call in turn["tool_calls"]
            ]
            self.messages.append(turn)
            if waiting := self.settle(turn["tool_calls"], [None] * len(turn["tool_calls"]), {}):
                return waiting
        raise Stopped("limit", "the limit of model calls is reached")

    def answered(self, turn: Json) -> Json:
        """Keep the answer, and give it to the caller."""
        del turn["tool_calls"]
        turn["content"] = turn["content"] or ""
        self.messages.append(turn)
        return {"kind": "value", "text": turn["content"]}

    def settle(self, calls: list[Json], results: list[str | None], decisions: dict[str, Json]) -> Json | None:
        """Run the calls that have no result yet; returns a suspension if some of them have to wait."""
        for at, call in enumerate(calls):
            if results[at] is None:
                self.halt.check()
                results[at] = self.result(call, decisions)
        waiting = [call for call, text in zip(calls, results, strict=True) if text is None]
        if waiting:
            return self.suspended(waiting, results)
        for call, text in zip(calls, results, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return None

    def result(self, call: Json, decisions: dict[str, Json]) -> str | None:
        """Give the text for the model, or None for a call that waits for its user."""
        function = call.get("function") or {}
        tool = find(self.agent.tools, function.get("name"))
        if tool is None:
            return f"Error: there is no tool named {function.get('name')!r}"
        try:
            arguments = read_arguments(function.get("arguments"))
        except ValueError as error:
            return f"Error: the arguments cannot be read: {error}"
        if tool.get("approval"):
            said = self.decision(call["id"], tool["name"], arguments, decisions)
            if said is None:
                return None
            if said["decision"] == "reject":
                return f"The user has rejected this call. {said.get('feedback') or ''}".strip()
            arguments = {**arguments, **(said.get("parameters") or {})}
        return self.use(tool, arguments)

    def decision(self, id: str, name: str, arguments: Json, decisions: dict[str, Json]) -> Json | None:
        """Give what the user says of a call, if the user can be asked or has said it."""
        if self.case.get("confirm"):
            call = {"id": id, "name": name, "arguments": arguments}
            return ask_kit(self.case["confirm"], {"call": call}, self.halt)
        return decisions.get(id)

    def use(self, tool: Json, arguments: Json) -> str:
        """Use a tool; its error is a result too."""
        try:
            reply = ask_kit(tool["url"], {"arguments": arguments}, self.halt)
            if wrong := reply.get("error"):
                raise ToolFailed(wrong["type"], wrong["message"])
            return as_text(reply["value"])
        except Exception as error:
            return error_text(error)

    # -- suspension

    def suspended(self, waiting: list[Json], results: list[str | None]) -> Json:
        state = {"messages": self.messages, "begun": self.begun, "results": results, "asked": self.asked}
        calls = [
            {
                "id": call["id"],
                "name": self.name_of(call),
                "arguments": read_arguments(call["function"].get("arguments")),
            }
            for call in waiting
        ]
        return {"kind": "suspended", "state": state, "calls": calls}

    def name_of(self, call: Json) -> str:
        tool = find(self.agent.tools, call["function"]["name"])
        return tool["name"] if tool else call["function"]["name"]

    def resume(self) -> Generator[str, None, Json]:
        """Go on with a suspended run."""
        state = self.case["resume"]["state"]
        if self.messages and len(self.messages) != state["begun"]:
            raise Stopped("other", "the conversation has gone on without this run")
        self.messages, self.begun, self.asked = list(state["messages"]), state["begun"], state["asked"]
        decisions = {one["id"]: one for one in self.case["resume"]["decisions"]}
        if waiting := self.settle(self.messages[-1]["tool_calls"], list(state["results"]), decisions):
            return waiting
        return (yield from self.go())


class Driver:
    """Keeps agents, conversations and halts by their ids."""

    agent: ClassVar[type[Agent]] = Agent
    run_of: ClassVar[type[Run]] = Run
    able: ClassVar[dict[str, bool]] = {}

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.agents: dict[str, Agent] = {}
        self.memories: defaultdict[str, Memory] = defaultdict(Memory)
        self.halts: defaultdict[str, Halt] = defaultdict(Halt)

    def start(self) -> Json:
        words = """stream chunks limit concurrent conversations histories shared
            cancel interrupt leave confirm suspend travels changes"""
        able = dict.fromkeys(words.split(), True) | self.able
        return started(f"conversations-chat-sync-{type(self).__name__}", ["openai-chat"], ["sync"], **able)

    def cancel(self, id: str) -> None:
        self.halt(id).pull()

    def halt(self, id: str) -> Halt:
        with self.lock:
            return self.halts[id]

    def memory(self, case: Json) -> Memory:
        with self.lock:
            return self.memories[case["conversation"]] if "conversation" in case else Memory()

    def agent_for(self, case: Json) -> Agent:
        with self.lock:
            if "shared" not in case:
                return self.agent(case)
            return self.agents.setdefault(case["shared"], self.agent(case))

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        halt, memory = self.halt(case.get("id", "")), self.memory(case)
        try:
            with memory.door.entered(halt):
                run = self.run_of(self.agent_for(case), case, halt, memory.messages)
                outcome = self.listen(run, case, emit)
                if outcome["kind"] == "value":
                    memory.messages = run.messages
                return outcome
        except Cancelled:
            return {"kind": "error", "reason": "cancelled", "type": "Cancelled", "message": "the run was cancelled"}
        except Exception as error:
            return failure(error)
        finally:
            with self.lock:
                self.halts.pop(case.get("id", ""), None)

    def listen(self, run: Run, case: Json, emit: Callable[[str], None]) -> Json:
        """Hand on what comes, and leave when the caller has enough."""
        enough = case["options"].get("leave_after", -1)
        with closing(run.resume() if case.get("resume") else run.go()) as pieces:
            while True:
                try:
                    piece: Any = next(pieces)
                except StopIteration as end:
                    return end.value
                emit(piece)
                enough -= 1
                if enough == 0:
                    raise Cancelled
