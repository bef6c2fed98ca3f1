"""The loop of Agent/Loop 010, revision 2025-12: Requests that stream Solutions, whose Calls run as they come.

    async with Requests("https://api.openai.com/v1", api_key, "gpt-5") as request:
        loop = AgentLoop(request, [{"type": "text", "text": "Weather in Paris?"}], tools, schema_of_the_answer)
        answer = await loop.run()

Read it in this order: `messages`, `expressions`, `calls`, `context` and `structure` (the values), `confirmation`,
`scheduler` (the Calls of one turn, without I/O), `solution` (the model's output), `prompt` (its input), `requests` (the
I/O), `loop`, `driver` (the driver for the kit).
"""

from __future__ import annotations

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.confirmation import Approve, Change, Confirmation, Decision, Reject, Replace
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.requests import Request, Requests
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Confirm, Start
from looptck_reference.agent_loop_010.solution import Reader, Solution, Unreadable

__all__ = [
    "Approve",
    "Call",
    "CallScheduler",
    "Change",
    "Confirm",
    "Confirmation",
    "Context",
    "Decision",
    "Prompt",
    "Reader",
    "Reject",
    "Replace",
    "Request",
    "Requests",
    "Solution",
    "SolutionLoop",
    "Start",
    "Unreadable",
]
