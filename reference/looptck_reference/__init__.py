"""The reference: an agent loop that is small enough to be read in one sitting.

    agent = Agent(model="gpt-4o-mini", messages=[{"role": "user", "content": "Weather in Paris?"}], tools=[...])
    with Runner("https://api.openai.com/v1", api_key) as runner:
        answer = runner.run(agent, stream=True, on_text=print)

Read it in this order: `values`, `actions`, `dialects`, `loop` (the machine), `wires` (what providers send),
`reception` and `exchange` (bytes and HTTP, without I/O), `runner` (the I/O), `driver` (the kit's way in).
"""

from __future__ import annotations

from looptck_reference.actions import Action, Ask, Fail, Finish, Run
from looptck_reference.agent import Agent
from looptck_reference.dialects import (
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
from looptck_reference.loop import Decision, Loop
from looptck_reference.runner import AsyncRunner, Runner
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
    "ANTHROPIC_MESSAGES",
    "CORE",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "PROMPTY_AGENT_MODE",
    "PROMPTY_SPEC",
    "Action",
    "Agent",
    "Answer",
    "Ask",
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
    "LimitReached",
    "Loop",
    "LoopError",
    "MalformedReply",
    "MessagesStream",
    "MessagesWire",
    "OutOfTurn",
    "Policy",
    "Propagate",
    "ProviderError",
    "Raise",
    "ResponsesStream",
    "ResponsesWire",
    "Run",
    "Runner",
    "Stop",
    "StreamBroken",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnCut",
    "TurnStream",
    "UnknownTool",
    "Wire",
]

__version__ = "0.3.0"
