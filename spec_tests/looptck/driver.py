"""Helpers for drivers: the types of the protocol, tool handlers, outcomes, and the process that speaks the protocol.

    from looptck.driver import error, handlers, started, value

    class Driver:
        def start(self):
            return started("my loop", "1.0", wires=["openai-chat"], modes=["sync"], limit=True)

        def run(self, case, emit):
            try:
                return value(my_loop(case["messages"], handlers(case)))
            except Exception as exception:
                return error(exception)

This file needs only the standard library of Python 3.9 or later, so it can be run or copied without an installed
looptck. It serves the class as a process:

    ENVIRONMENT/bin/python -m looptck.driver FILE.py:Driver
    ENVIRONMENT/bin/python PATH/TO/driver.py FILE.py:Driver

The types are those of `fixtures/protocol/`; their docstrings add what a schema cannot say.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib
import importlib.util
import json
import os
import sys
import threading
import types
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO, TypedDict, Union
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from typing import Unpack

__all__ = [
    "Capabilities", "Case", "Driver", "Emit", "Error", "Event", "ImagePart", "Outcome", "Parts", "Reason", "Started",
    "Suspended", "TextPart", "Tool", "ToolError", "Usage", "Value", "confirm", "error", "handlers", "post", "run_tool",
    "started", "suspended", "value",
]  # fmt: skip

VERSION = 1
"""The version of the protocol."""

Wire = Literal["openai-chat", "openai-responses", "anthropic-messages"]
Mode = Literal["sync", "async"]
Stop = Literal["end", "calls", "limit", "length", "content_filter", "refusal", "other"]
Reason = Literal[
    "limit", "tool", "unknown-tool", "arguments", "provider", "stream", "truncated", "refusal", "cancelled", "other"
]


# -- what the kit sends -----------------------------------------------------------------------------------------------


class Call(TypedDict):
    """A call of an earlier turn; its result is a message of its own."""

    id: str
    name: str
    arguments: dict[str, Any]


class _Message(TypedDict):
    role: Literal["system", "user", "assistant", "tool"]
    content: str


class Message(_Message, total=False):
    """A message of the prompt. `calls`: of an assistant's turn; `call_id`: of the call that a tool answers."""

    calls: list[Call]
    call_id: str


class _Input(TypedDict):
    name: str
    kind: Literal["string", "integer", "float", "number", "boolean", "array", "object"]


class Input(_Input, total=False):
    """An input that the agent declares."""

    description: str
    default: Any


class _Agent(TypedDict):
    name: str
    description: str
    template: list[Message]


class Agent(_Agent, total=False):
    """The agent of a case: its name, and its prompt before the inputs are filled in."""

    path: str
    inputs: list[Input]


class _Tool(TypedDict):
    name: str
    kind: str
    description: str
    parameters: dict[str, Any]
    url: str | None


class Tool(_Tool, total=False):
    """A tool to offer to the model. `parameters` is a JSON Schema; without `url` it has no handler."""

    strict: bool
    approval: bool
    bindings: dict[str, str]
    path: str
    mode: Literal["single", "agentic"]
    handler: Mode


class Server(TypedDict):
    """An MCP server: what the caller calls it, and its URL."""

    name: str
    url: str


class _Hosted(TypedDict):
    kind: Literal["search", "other"]


class Hosted(_Hosted, total=False):
    """A tool that the service runs by itself: its web search, or another, which `tool` has as a request offers it."""

    tool: dict[str, Any]


class Telemetry(TypedDict):
    """Where the spans of the run go: the OTLP/HTTP endpoint, and the span above them."""

    endpoint: str
    traceparent: str


class Chosen(TypedDict):
    """The one tool that the model has to call."""

    tool: str


class Options(TypedDict, total=False):
    """The options that the case sets; for absent ones use the loop's defaults. `limit` may be 0."""

    limit: int
    leave_after: int
    keep_rounds: int
    tool_choice: Union[Literal["auto", "required", "none"], Chosen]
    parallel_calls: bool


class Member(TypedDict):
    """One of several agents. `tools`, `handoffs` and `subagents` are names of tools of the case and of agents."""

    name: str
    description: str
    instructions: str
    tools: list[str]
    handoffs: list[str]
    subagents: list[str]


class _Decision(TypedDict):
    id: str
    decision: Literal["approve", "reject", "change"]


class Decision(_Decision, total=False):
    """The decision about a call of a suspended run: `feedback` of a rejection, new `parameters` of a change."""

    feedback: str
    parameters: dict[str, Any]


class Resume(TypedDict):
    """The state of a suspended run as the driver has sent it, and a decision for each of its calls."""

    state: Any
    decisions: list[Decision]


class _Case(TypedDict):
    name: str
    profile: str
    wire: Wire
    stream: bool
    mode: Mode
    base_url: str
    api_key: str
    model: str
    agent: Agent
    messages: list[Message]
    inputs: dict[str, Any]
    tools: list[Tool]
    options: Options


class Case(_Case, total=False):
    """One run that looptck requests.

    `base_url` ends in `/v1`, as OpenAI's clients expect it. `stream`: whether the loop should request event streams.
    `conversation`: go on with what the earlier runs of this id have said, of which `messages` repeats nothing.
    `agents`: several agents, of which the first begins.
    """

    id: str
    conversation: str
    shared: str
    resume: Resume
    agents: list[Member]
    context: list[dict[str, Any]]
    output_schema: dict[str, Any]
    confirm: str
    tools_url: str
    """An MCP server that has the tools with a handler, for a loop that takes its tools from servers alone."""
    handlers: dict[str, str]
    kinds: dict[str, str]
    mcp_servers: list[Server]
    tool_servers: list[Server]
    hosted_tools: list[Hosted]
    telemetry: Telemetry


# -- what a driver answers --------------------------------------------------------------------------------------------


class Capabilities(TypedDict, total=False):
    """What the loop can do. Absent means no, except for `plain`."""

    stream: bool
    """It can ask for event streams."""
    plain: bool
    """It can ask for plain replies. Absent means true."""
    chunks: bool
    """It hands text to its caller while it arrives."""
    limit: bool
    """Its iteration limit can be set."""
    concurrent: bool
    """The driver takes a second `run` before it has finished the first."""
    memory: bool
    """Its requests rely on state of the service: previous_response_id, conversations, item references, threads."""
    cancel: bool
    """A run of it can be cancelled."""
    conversations: bool
    """A run can go on with a conversation: with everything that earlier runs of it have said."""
    histories: bool
    """It takes a prompt with calls and results of earlier turns."""
    shared: bool
    """One agent object of it may serve several runs, at the same time too."""
    interrupt: bool
    """A run in sync mode can be cancelled too, and not only one in async mode."""
    usage: bool
    """It tells its caller how many tokens a run has used."""
    events: bool
    """It tells its caller of calls and results while it runs."""
    leave: bool
    """The caller can leave a stream before its end."""
    suspend: bool
    """A run ends as suspended before calls that need approval, and another run resumes it with the decisions."""
    travels: bool
    """The state of a suspended run is JSON that another process can resume."""
    changes: bool
    """A decision may change the arguments of a call that needs approval: it runs with the changed ones."""
    parts: bool
    """Its tools may return text and images as parts, which reach the model as such."""
    strict: bool
    """Its tools can be strict: it asks the service to hold their arguments to the schema."""
    tool_choice: bool
    """Its caller can say whether the model has to call a tool, and which, or may call none."""
    single_calls: bool
    """Its caller can forbid several calls in one turn."""
    handoffs: bool
    """An agent of it can hand the conversation over to another, which then answers the user."""
    subagents: bool
    """An agent of it can call another as a tool, which has a conversation of its own and whose answer is the result."""
    output: bool
    """Its caller can give a JSON Schema of the answer, and gets a value that fits."""
    bindings: bool
    """Parameters of its tools can be bound to inputs."""
    kinds: bool
    """Handlers can be registered for a kind of tool."""
    prompts: bool
    """It loads agents from .prompty files."""
    nested: bool
    """Tools of the kind prompty run another .prompty file."""
    mixed: bool
    """Its async runs take plain functions and coroutine functions as handlers."""
    parallel: bool
    """It runs the calls of a turn at the same time."""
    eager: bool
    """It starts calls of a stream before it knows why the model stopped."""
    prune: bool
    """The number of rounds that it sends again can be set."""
    mcp_client: bool
    """It is a client of MCP servers over streamable HTTP, and offers and calls their tools itself."""
    mcp: bool
    """It can name MCP servers, which the service calls itself."""
    hosted: bool
    """It can offer the service's web search."""
    hosted_others: bool
    """It can offer any tool that the service runs itself, given in the wire's form."""
    spans: bool
    """It emits OpenTelemetry spans for its runs."""
    confirm: bool
    """It can ask for confirmation before it runs a call, and obeys the answer."""
    latent: bool
    """It takes tools without a handler, whose results the model writes."""
    expressions: bool
    """Parameters and output paths of its calls may join several references: the first that exists, or all."""
    methods: bool
    """Its calls may say how a result joins what is there: merge, assign, push or concat."""
    plans: bool
    """It takes plan messages, and hands the calls of a turn on as the plan of the next."""
    instances: bool
    """Its calls may belong to an instance, whose values no other instance sees."""


class Dialect(TypedDict, total=False):
    """The loop's answers where the documents leave the choice open."""

    limit_counts: Literal["model-calls", "tool-rounds"]
    """What the limit counts. Absent means model-calls."""
    limit_of_zero: Literal["reached", "no-limit"]
    """What a limit of zero means: it is reached before anything runs, or there is none. Absent means reached."""
    unknown_names: Literal["refused", "repaired"]
    """Whether a call whose name is nearly that of an offered tool is one of an unknown tool, or runs the similar tool.
    Absent means refused."""
    equal_calls: Literal["run", "answered"]
    """Whether a call that is equal to one before it runs too, or is answered without running, as guards against
    repetitions do. Absent means run."""
    after_failure: Literal["run", "skipped"]
    """Whether the calls of a turn that stand behind one that has failed run, or the model is told that they have not.
    Absent means run."""
    rejections: Literal["with-reasons", "bare"]
    """What a user who rejects a call can say of it: a reason, which the model reads, or no alone. Absent means
    with-reasons."""
    models: Literal["any", "without-reasoning"]
    """For which models the loop is: any, or only those that do not reason, whose turns have no reasoning to keep.
    Absent means any."""
    answer_text: Literal["last-turn", "all-rounds"]
    """Whether the value has the text of the last turn, or of all rounds of the run. Absent means last-turn."""
    tool_choice: Literal["first-round", "every-request", "first-request"]
    """How long a choice that forces a call holds: for the first round of tools, or for every request of the run;
    first-request: each choice is for the first request alone, that of none too. Absent means first-round."""
    tools: Literal["schemas", "functions"]
    """Whether a tool is given to the loop with its schema, or in its own language alone, as a function whose signature
    says it or a schema in zod, so that the driver leaves out what cannot be said so. Absent means schemas."""
    events: Literal["all-runs", "streams"]
    """Which runs tell events: all, or only those that ask for streams. Absent means all-runs."""
    agent_files: Literal["guide", "lists"]
    """The form of inputs and parameters in `.prompty` files of cases of `prompty-agent-mode`. Absent means guide."""
    profiles: Literal["together", "apart"]
    """Whether one behaviour follows all profiles, or each is followed in the cases that name it. Absent means together.
    """


class _Answer(TypedDict):
    tool: str
    """The name of the tool, as the loop offers it."""
    argument: str
    """The argument with the text of the answer."""


class Answer(_Answer, total=False):
    """The tool of its own by whose call alone the loop takes an answer."""

    others: dict[str, Any]
    """Further arguments that each call needs."""


class AgentTool(TypedDict):
    """A call of a tool by which a model hands over or calls another agent.

    In its name and in texts among its arguments `{agent}` is the place of the agent's name, and `{input}` of what the
    agent is asked.
    """

    tool: str
    arguments: dict[str, Any]


class AgentTools(TypedDict, total=False):
    """The tools by which a model hands over or calls another agent, where what a request offers does not show it."""

    handoff: AgentTool
    subagent: AgentTool


class _Started(TypedDict):
    protocol: Literal[1]
    name: str
    version: str
    language: str
    wires: list[Wire]
    modes: list[Mode]
    profiles: list[str]
    capabilities: Capabilities


class Started(_Started, total=False):
    """What the loop is and can do."""

    dialect: Dialect
    answer: Answer
    agent_tools: AgentTools


class _CallEvent(TypedDict):
    kind: Literal["call"]
    call_id: str | None
    name: str


class CallEvent(_CallEvent, total=False):
    """The model has made a call, and all of it is there; or the call begins to run.

    `call_id`: the id by which the caller can tell the events of this call from those of others, None if it gets none.
    `arguments`: their value, or the text of them; leave them out if the caller is not told.
    """

    arguments: Any


class ArgumentsEvent(TypedDict):
    """A piece of the arguments of a call, as the model writes them."""

    kind: Literal["arguments"]
    call_id: str | None
    text: str


class _ResultEvent(TypedDict):
    kind: Literal["result"]
    call_id: str | None


class ResultEvent(_ResultEvent, total=False):
    """A call has its result: its tool has ended, or the model is told that it did not run.

    `result`: what the tool has returned, or the text that the model gets; of an error, its text. `failed`: whether it
    is the result of a failure. Leave out what the caller is not told.
    """

    result: Any
    failed: bool


class _EndEvent(TypedDict):
    kind: Literal["end"]


class EndEvent(_EndEvent, total=False):
    """The run is over, as an event tells it, and `how` if it says so; the end of an iteration is no event."""

    how: Literal["value", "error", "cancelled", "suspended"]


Event = Union[CallEvent, ArgumentsEvent, ResultEvent, EndEvent]
Emit = Callable[[Union[str, Event]], None]
"""A driver calls this with each piece of text, and with `events` each event, as soon as its loop's caller has it."""


class Usage(TypedDict, total=False):
    """The tokens that this run has used, all replies together; leave out what the loop does not tell its caller."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    not_numbers: list[Literal["input_tokens", "output_tokens", "total_tokens", "cached_tokens"]]
    """Those of these that the caller sees as NaN, for which JSON has no number."""


class _Value(TypedDict):
    kind: Literal["value"]
    text: str | None


class Value(_Value, total=False):
    """The loop returned: its final text, None if there was none. `stop` is why it ended, if it reports that."""

    output: Any
    stop: Stop
    usage: Usage


class _Error(TypedDict):
    kind: Literal["error"]
    reason: Reason
    type: str
    message: str


class Error(_Error, total=False):
    """The loop raised.

    `type` is the name of the exception's class, `bases` are those of the classes above it, the nearest first.
    `escaped`: no caller could have caught it.
    """

    bases: list[str]
    escaped: bool


class Pending(TypedDict):
    """A call that waits for a decision, which will name its `id`."""

    id: str
    name: str
    arguments: Any


class Suspended(TypedDict):
    """The run waits for decisions about these calls. `state` is any JSON that resumes it."""

    kind: Literal["suspended"]
    state: Any
    calls: list[Pending]


Outcome = Union[Value, Error, Suspended]


class Driver(Protocol):
    """The interface of a driver class. It is instantiated once, without arguments, for all runs.

    A loop with one mode needs only the method of that mode. `stop`, if present, is called at the end; as a coroutine
    function it runs on the event loop of the async runs. An exception that a method raises counts as a driver fault;
    return an error of the loop as an outcome.

    `cancel`, if present, is called with the `id` of a case, on another thread, to cancel its run. Without it the task
    of a run in async mode is cancelled, which needs nothing of the driver.
    """

    def start(self) -> Started:
        """What the loop is and can do. Called once, before all runs."""

    def run(self, case: Case, emit: Emit) -> Outcome:
        """Run one case in sync mode, on a thread of looptck."""
        raise AttributeError(f"{type(self).__name__} has no method run")  # so that a subclass may do without it

    async def run_async(self, case: Case, emit: Emit) -> Outcome:
        """Run one case in async mode, on the event loop that all async runs share."""
        raise AttributeError(f"{type(self).__name__} has no method run_async")


def started(
    name: str,
    version: str,
    *,
    wires: Iterable[Wire],
    modes: Iterable[Mode],
    language: str = "python",
    profiles: Iterable[str] = (),
    dialect: Dialect | None = None,
    answer: Answer | None = None,
    agent_tools: AgentTools | None = None,
    **capabilities: Unpack[Capabilities],
) -> Started:
    """The result of `start`: name and version of the loop, its wires and modes, and its capabilities by name.

    `answer` is for a loop that takes its answer only by a call of a tool of its own, such as
    `{"tool": "final_answer", "argument": "answer"}`. `agent_tools` is for a loop whose tools for handoffs and agents
    do not name the agents, such as `{"handoff": {"tool": "switch", "arguments": {"to": "{agent}"}}}`.
    """
    found: Started = {
        "protocol": 1,
        "name": name,
        "version": version,
        "language": language,
        "wires": list(wires),
        "modes": list(modes),
        "profiles": list(profiles),
        "capabilities": capabilities,
    }
    if dialect is not None:
        found["dialect"] = dialect
    if answer is not None:
        found["answer"] = answer
    if agent_tools is not None:
        found["agent_tools"] = agent_tools
    return found


def value(text: str | None, *, stop: Stop | None = None, usage: Usage | None = None, **more: Any) -> Value:
    """The outcome of a loop that returned.

    Args:
        text: The final text that the caller received; None if there was none.
        stop: Why the loop ended, if it reports that to its caller.
        usage: The tokens that this run has used, if the loop tells them: `{"input_tokens": 81, "output_tokens": 12}`.
        more: `output`, the JSON value that the caller got, in a case with `output_schema`.
    """
    found: Value = {"kind": "value", "text": text}
    if stop is not None:
        found["stop"] = stop
    if usage is not None:
        found["usage"] = usage
    if "output" in more:
        found["output"] = more.pop("output")
    if more:
        raise TypeError(f"an outcome has no {', '.join(sorted(more))}")
    return found


def suspended(state: Any, calls: Iterable[Pending]) -> Suspended:
    """The outcome of a run that waits for decisions.

    Args:
        state: What is needed to resume the run, as JSON; the case that resumes it has it in `resume`.
        calls: The calls that wait: `{"id": …, "name": …, "arguments": …}` of each.
    """
    return {"kind": "suspended", "state": state, "calls": list(calls)}


def error(
    exception: BaseException,
    reason: Reason | None = None,
    *,
    reasons: Mapping[type[BaseException], Reason] | None = None,
) -> Error:
    """The outcome of a loop that raised.

    Args:
        exception: The exception that the caller of the loop received.
        reason: The reason of the error, if the driver knows it.
        reasons: Reasons by class, such as `{MaxTurnsExceeded: "limit"}`. They come first, then the errors of tool
            handlers, and the names of errors of the common SDKs; where none fits, the cause of the exception is tried.
    """
    _tell_slip(exception, sys._getframe(1))  # noqa: SLF001  the function of the driver that calls this
    return {
        "kind": "error",
        "reason": reason or _reason(exception, reasons or {}),
        "type": type(exception).__name__,
        "message": _message(exception),
        "bases": [kind.__name__ for kind in type(exception).__mro__[1:-1]],
    }


_SLIPS = (ArithmeticError, AttributeError, ImportError, LookupError, NameError, TypeError)
_told: set[tuple[str, int]] = set()


def _tell_slip(exception: BaseException, frame: types.FrameType) -> None:
    """Write to standard error, once for each line, that it was not the loop that raised but this function itself."""
    trace = exception.__traceback__
    if trace is None or trace.tb_next is not None or trace.tb_frame is not frame or not isinstance(exception, _SLIPS):
        return
    place = frame.f_code.co_filename, trace.tb_lineno
    if place not in _told:
        _told.add(place)
        slip = f"{type(exception).__name__}: {_message(exception)}"
        print(f"looptck: not the loop but {place[0]}, line {place[1]}, raised {slip}", file=sys.stderr)


def _message(exception: BaseException) -> str:
    try:
        return str(exception)
    except Exception:  # its class has a broken __str__; a traceback says the same
        return "<exception str() failed>"


def _reason(exception: BaseException, reasons: Mapping[type[BaseException], Reason]) -> Reason:
    for one in (exception, exception.__cause__):
        for kind, reason in reasons.items():
            if isinstance(one, kind):
                return reason
        if isinstance(one, ToolError):
            return "tool"
        for kind in type(one).__mro__:
            if kind.__name__ in _REASONS:
                return _REASONS[kind.__name__]
    return "other"


_REASONS: dict[str, Reason] = {
    "APIConnectionError": "provider",
    "APIError": "stream",
    "APIStatusError": "provider",
    "CancelledError": "cancelled",
    "ConnectError": "provider",
    "ConnectTimeout": "provider",
    "ContentFilterFinishReasonError": "truncated",
    "HTTPStatusError": "provider",
    "JSONDecodeError": "stream",
    "LengthFinishReasonError": "truncated",
    "ReadError": "stream",
    "RemoteProtocolError": "stream",
}
"""Reasons by the name of an error of the openai, anthropic or httpx package, or of a class above it."""


# -- handlers of tools ------------------------------------------------------------------------------------------------


class ToolError(Exception):
    """The error that a handler raises on request; its class has the requested name."""


class TextPart(TypedDict):
    """A text among the parts of a result."""

    type: Literal["text"]
    text: str


class ImagePart(TypedDict):
    """An image among the parts of a result. `data` are its bytes in base64, `media_type` is such as `image/png`."""

    type: Literal["image"]
    media_type: str
    data: str


class Parts(list[Union[TextPart, ImagePart]]):
    """What a handler returns in place of a value, for a loop that declares `parts`: texts and images, in order.

    A driver makes of them what its loop's users return from a tool: an object for each image, or blocks of the wire.
    """


def handlers(case: Case, mode: Mode | None = None) -> dict[str, Callable[..., Any]]:
    """A function for each tool of the case that should have a handler, by name.

    Args:
        case: The case of the run.
        mode: "sync" for plain functions, "async" for coroutine functions. Without it each is of the kind that its tool
            asks for, or else that of the run.

    Returns:
        Functions that take the tool's arguments by name or in the order of its parameters, have the tool's name and
        description as their own, and return or raise what the kit wants; with `parts`, `Parts` among it.
    """
    wanted = [tool for tool in case["tools"] if tool["url"]]
    return {tool["name"]: _handler(tool, mode or tool.get("handler") or case["mode"]) for tool in wanted}


def _handler(tool: Tool, mode: Mode) -> Callable[..., Any]:
    url = str(tool["url"])

    def call(*positional: Any, **named: Any) -> Any:
        return run_tool(url, {"arguments": _arguments(tool, positional, named)})

    async def call_async(*positional: Any, **named: Any) -> Any:
        message = {"arguments": _arguments(tool, positional, named)}
        thread = ThreadPoolExecutor(1, "looptck-tool")  # the loop's own executor has few, for which calls would wait
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, run_tool, url, message)
        finally:
            thread.shutdown(wait=False)

    function: Callable[..., Any] = call_async if mode == "async" else call
    function.__name__ = function.__qualname__ = tool["name"]
    function.__doc__ = tool["description"]
    return function


def _arguments(tool: Tool, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a handler call; positional ones belong to the tool's parameters in their order."""
    parameters = list(tool["parameters"].get("properties", {}))
    if len(positional) > len(parameters):
        raise TypeError(f"{tool['name']} takes {len(parameters)} arguments, but was called with {len(positional)}")
    return {**dict(zip(parameters, positional)), **named}


def run_tool(url: str, message: Mapping[str, Any]) -> Any:
    """Ask looptck for the result of a tool run: return its value or its parts, or raise its error.

    Args:
        url: The URL of the tool, of the handler, or of the kind.
        message: `{"arguments": …}`, for a kind of tool with `tool`, `agent` and `inputs` too.

    Raises:
        ToolError: a subclass with the requested name.
    """
    reply = post(url, message)
    if wanted := reply.get("error"):
        raise type(wanted["type"], (ToolError,), {})(wanted["message"])
    return Parts(reply["parts"]) if "parts" in reply else reply["value"]


def confirm(
    case: Case, id: str = "", name: str = "", arguments: Any = None, *, call: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Ask whether a call may run, in a case with `confirm`; returns when the decision is made.

    Args:
        case: The case of the run.
        id: The id of the call.
        name: The name of its tool.
        arguments: The arguments, as an object or as the text that the model has written.
        call: In place of the three, in a case of `agent-loop-010`: the call as the model has written it.

    Returns:
        `{"decision": "approve"}`, `{"decision": "reject", "feedback": …}`, `{"decision": "change", "parameters": …}`,
        or in `agent-loop-010` also `{"decision": "replace", "call": …}`, another call to run instead.
    """
    asked = {"id": id, "name": name, "arguments": arguments} if call is None else call
    return post(case["confirm"], {"call": asked})


def post(url: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """Post a JSON message to a URL of the case, without a proxy; returns the reply."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc)
    try:
        headers = {"Content-Type": "application/json", "Connection": "close"}
        connection.request("POST", urlunsplit(("", "", *place[2:])), json.dumps(message).encode(), headers)
        response = connection.getresponse()
        told = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise OSError(f"POST {url}: {response.status}: {told[:500].decode(errors='replace')}")
    reply: dict[str, Any] = json.loads(told)
    return reply


# -- the process ------------------------------------------------------------------------------------------------------


def load(reference: str) -> Any:
    """The object that ``module:name`` or ``path/to/file.py:name`` names; ``name`` may contain dots.

    Raises:
        ValueError: no colon in it, or the file is not a Python file.
        ImportError, AttributeError: the module or the name does not exist.
    """
    place, colon, name = reference.rpartition(":")
    if not colon:
        raise ValueError(f"{reference!r} names no object: write MODULE:NAME or FILE.py:NAME")
    if not place.endswith(".py") and Path(place).is_file():
        raise ValueError(f"{place} is not a Python file: a program is run by a command line, as in cmd:node driver.mjs")
    if not place.endswith(".py"):
        return attrgetter(name)(importlib.import_module(place))
    path = Path(place).resolve()
    if not path.is_file():
        raise ImportError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{place!r} is not a Python file")
    folder = str(path.parent)
    sys.path[:] = [folder, *(other for other in sys.path if other != folder)]
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return attrgetter(name)(module)


def emitted(id: str, told: str | Event | None) -> dict[str, Any]:
    """The message for what a driver has emitted in the run with this id: a piece of text, or an event.

    None is what a loop hands to its caller that takes an absent text for a piece.
    """
    if isinstance(told, dict):
        return {"type": "event", "id": id, "event": told}
    return {"type": "chunk", "id": id, "text": told}


class _Writer:
    """Writes whole lines, one at a time, from any thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message) + "\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()


class _Host:
    """Passes messages between looptck and one driver object.

    Each sync run has a thread of its own and all async runs share one event loop, so runs overlap, and answers leave in
    the order in which they are ready.
    """

    def __init__(self, driver: Any, writer: _Writer) -> None:
        self._driver = driver
        self._send = writer.send
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[str, Any] = {}
        """The futures of the async runs that have not ended, by id."""

    def handle(self, message: dict[str, Any]) -> None:
        if message["type"] == "start":
            self._send({"type": "started", "protocol": VERSION, **self._driver.start()})
        elif message["type"] == "run":
            self._run(message["id"], message["case"])
        elif message["type"] == "cancel":
            self._cancel(message["id"])
        elif message["type"] == "stop" and hasattr(self._driver, "stop"):
            stopped = self._driver.stop()
            if asyncio.iscoroutine(stopped):
                asyncio.run_coroutine_threadsafe(stopped, self._event_loop()).result()

    def _run(self, id: str, case: Case) -> None:
        if case["mode"] == "async":
            task = asyncio.run_coroutine_threadsafe(self._run_async(id, case), self._event_loop())
            self._tasks[id] = task
            task.add_done_callback(lambda _: self._tasks.pop(id, None))
        else:
            threading.Thread(target=self._run_sync, args=(id, case), daemon=True).start()

    def _cancel(self, id: str) -> None:
        """Let the driver cancel a run, on a thread of its own; without a method for it, cancel the task of the run."""
        if hasattr(self._driver, "cancel"):
            threading.Thread(target=self._cancel_run, args=(id,), daemon=True).start()
        elif id in self._tasks:
            self._tasks[id].cancel()

    def _cancel_run(self, id: str) -> None:
        try:
            self._driver.cancel(id)
        except BaseException:
            _die()

    def _run_sync(self, id: str, case: Case) -> None:
        try:
            outcome = self._driver.run(case, lambda told: self._told(id, told))
            self._send({"type": "finished", "id": id, "outcome": outcome})
        except BaseException:
            _die()

    async def _run_async(self, id: str, case: Case) -> None:
        try:
            outcome = await self._driver.run_async(case, lambda told: self._told(id, told))
            self._send({"type": "finished", "id": id, "outcome": outcome})
        except asyncio.CancelledError as cancelled:
            self._send({"type": "finished", "id": id, "outcome": error(cancelled, "cancelled")})
        except BaseException:
            _die()

    def _told(self, id: str, told: str | Event) -> None:
        self._send(emitted(id, told))

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return self._loop


def _die() -> None:
    """Exit as after a crash, with the traceback of an error that the driver did not catch."""
    import traceback

    traceback.print_exc(file=sys.stderr)
    sys.stderr.flush()
    os._exit(70)


def main(arguments: list[str]) -> int:
    """Serve the named driver on standard input and output until ``stop``; exit status 2 if none is named.

    The loop's own output goes to standard error, since standard output belongs to the protocol.
    """
    if len(arguments) != 1:
        print("usage: python -m looptck.driver MODULE:NAME | FILE.py:NAME", file=sys.stderr)
        return 2
    writer = _Writer(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    host = _Host(load(arguments[0])(), writer)
    for line in sys.stdin:
        message = json.loads(line)
        host.handle(message)
        if message["type"] == "stop":
            break
    sys.stderr.flush()
    os._exit(0)


def _known_as_looptck() -> None:
    """Let the driver import this file as ``looptck.driver`` without looptck, and modules next to the driver."""
    sys.modules["looptck.driver"] = sys.modules["__main__"]
    if importlib.util.find_spec("looptck") is None:
        package = types.ModuleType("looptck")
        package.__path__ = [str(Path(__file__).resolve().parent)]
        sys.modules["looptck"] = package


if __name__ == "__main__":
    if sys.path[0] == str(Path(__file__).resolve().parent):
        sys.path[0] = str(Path.cwd())  # a driver's imports must not find the modules next to this file
    _known_as_looptck()
    sys.exit(main(sys.argv[1:]))
