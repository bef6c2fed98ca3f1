"""The reference: an agent loop that is small enough to be read in one sitting.

    agent = Agent(model="gpt-4o-mini", messages=[{"role": "user", "content": "Weather in Paris?"}], tools=[...])
    with Runner("https://api.openai.com/v1", api_key) as runner:
        answer = runner.run(agent, stream=True, on_text=print)

or, with the agent in a file,

    answer = invoke_agent("weather.prompty", {"city": "Paris"}, {"forecast": forecast})

Read it in this order: `values`, `actions`, `dialects`, `registry`, `seams` and `loop` (the machine), `wires` (what
providers send), `reception` and `exchange` (bytes and HTTP, without I/O), `spans`, `runner` (the I/O), `prompts`
(files), `invoke` and `streams` (what callers use), `driver` and `driving` (the kit's way in).
"""

from __future__ import annotations

from looptck_reference.actions import Action, Ask, Fail, Finish, Run
from looptck_reference.agent import Agent
from looptck_reference.dialects import (
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
from looptck_reference.errors import (
    AsyncToolInSyncRun,
    BadArguments,
    ConnectionLost,
    LimitReached,
    LoopError,
    MalformedReply,
    OutOfTurn,
    ProviderError,
    StreamBroken,
    TurnCut,
    UnknownTool,
)
from looptck_reference.invoke import execute_agent, execute_agent_async, invoke_agent, invoke_agent_async
from looptck_reference.loop import Loop
from looptck_reference.prompts import load
from looptck_reference.registry import REGISTRY, KindHandler, Registry
from looptck_reference.runner import AsyncRunner, Runner
from looptck_reference.seams import Decision
from looptck_reference.spans import Tracing
from looptck_reference.streams import AsyncPromptyStream, PromptyStream
from looptck_reference.tools import Tool
from looptck_reference.values import Answer, Delta, Stop, ToolCall, ToolResult, Turn
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
    "Ask",
    "AsyncPromptyStream",
    "AsyncRunner",
    "AsyncToolInSyncRun",
    "BadArguments",
    "ChatStream",
    "ChatWire",
    "ConnectionLost",
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
    "Policy",
    "PromptyStream",
    "Propagate",
    "ProviderError",
    "Raise",
    "Registry",
    "ResponsesStream",
    "ResponsesWire",
    "Run",
    "Runner",
    "Stop",
    "StreamBroken",
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
