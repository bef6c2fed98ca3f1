"""The reference: an agent loop whose algorithm can be read in one sitting.

    agent = Agent(model="gpt-4o-mini", messages=[{"role": "user", "content": "Weather in Paris?"}], tools=[...])
    with Runner("https://api.openai.com/v1", api_key) as runner:
        answer = runner.run(agent, stream=True, on_text=print)

with a conversation that goes on, whatever becomes of the run,

    loop = Loop(agent, wire=OPENAI_CHAT, conversation=before, messages=[{"role": "user", "content": "And tomorrow?"}])
    answer, after = runner.drive(loop), loop.conversation

or, with the agent in a file,

    answer = invoke_agent("weather.prompty", {"city": "Paris"}, {"forecast": forecast})

Read the folder `loop` from `loop.loop` on: it is the whole algorithm; `vocabulary` has the words, above all `values`,
`actions` and `dialects`. Then `wires` (the providers' formats), `reception` and `exchange` in `http` (bytes and HTTP,
without I/O), `runner` and `cancellation` (the I/O), `prompty` (files, and the interface for callers), `spans`, and
`kit` (the driver).
"""

from __future__ import annotations

from looptck_reference.http.async_runner import AsyncRunner
from looptck_reference.http.cancellation import Cancellation
from looptck_reference.http.runner import Runner
from looptck_reference.http.spans import Tracing
from looptck_reference.loop.conversation import Conversation
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.prompty.invoke import execute_agent, execute_agent_async, invoke_agent, invoke_agent_async
from looptck_reference.prompty.prompts import load
from looptck_reference.prompty.streams import AsyncPromptyStream, PromptyStream
from looptck_reference.vocabulary.actions import Action, Ask, Decide, Fail, Finish, Run, Suspend
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.approval import Approve, Change, Pending, Reject
from looptck_reference.vocabulary.choice import Choice
from looptck_reference.vocabulary.dialects import (
    ANTHROPIC_LOOP,
    CORE,
    PROMPTY_AGENT_MODE,
    PROMPTY_SPEC,
    Dialect,
    FeedBack,
    Policy,
    Propagate,
    Raise,
)
from looptck_reference.vocabulary.errors import (
    AsyncToolInSyncRun,
    BadArguments,
    Cancelled,
    ConnectionLost,
    LimitReached,
    LoopError,
    MalformedReply,
    OutOfTurn,
    ProviderError,
    StreamBroken,
    Suspended,
    TurnCut,
    UnknownTool,
)
from looptck_reference.vocabulary.parts import Parts
from looptck_reference.vocabulary.registry import REGISTRY, KindHandler, Registry
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Answer, Delta, Stop, ToolCall, ToolResult, Turn
from looptck_reference.wires import (
    ANTHROPIC_MESSAGES,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ChatStream,
    ChatWire,
    EventReader,
    MessagesStream,
    MessagesWire,
    ResponsesStream,
    ResponsesWire,
    TurnStream,
    Wire,
)

__all__ = [
    "ANTHROPIC_LOOP",
    "ANTHROPIC_MESSAGES",
    "CORE",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "PROMPTY_AGENT_MODE",
    "PROMPTY_SPEC",
    "REGISTRY",
    "Action",
    "Agent",
    "Answer",
    "Approve",
    "Ask",
    "AsyncPromptyStream",
    "AsyncRunner",
    "AsyncToolInSyncRun",
    "BadArguments",
    "Cancellation",
    "Cancelled",
    "Change",
    "ChatStream",
    "ChatWire",
    "Choice",
    "ConnectionLost",
    "Conversation",
    "Decide",
    "Decision",
    "Delta",
    "Dialect",
    "EventReader",
    "Fail",
    "FeedBack",
    "Finish",
    "KindHandler",
    "LimitReached",
    "Loop",
    "LoopError",
    "MalformedReply",
    "MessagesStream",
    "MessagesWire",
    "OutOfTurn",
    "Parts",
    "Pending",
    "Policy",
    "PromptyStream",
    "Propagate",
    "ProviderError",
    "Raise",
    "Registry",
    "Reject",
    "ResponsesStream",
    "ResponsesWire",
    "Run",
    "Runner",
    "Stop",
    "StreamBroken",
    "Suspend",
    "Suspended",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Tracing",
    "Turn",
    "TurnCut",
    "TurnStream",
    "UnknownTool",
    "Wire",
    "execute_agent",
    "execute_agent_async",
    "invoke_agent",
    "invoke_agent_async",
    "load",
]

__version__ = "0.8.0"
