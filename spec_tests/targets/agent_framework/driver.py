"""The driver of Microsoft's Agent Framework: each case becomes an ``Agent`` with one of the OpenAI clients.

The framework is async only. ``README.md`` says what is chosen here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

from agent_framework import Agent, AgentResponse, AgentSession, Content, FunctionTool, Message, tool
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from looptck.driver import error, handlers, suspended, value
from looptck.signatures import written

Json = dict[str, Any]

CLIENTS: dict[str, Any] = {"openai-chat": OpenAIChatCompletionClient, "openai-responses": OpenAIChatClient}


class Driver:
    """Runs the kit's cases on the framework."""

    def __init__(self) -> None:
        self._sessions: dict[str, AgentSession] = {}
        """The sessions of conversations, by id."""
        self._agents: dict[str, Agent] = {}
        """The agents of conversations, and those that serve several runs, by id."""

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "agent-framework",
            "version": version("agent-framework-core"),
            "language": "python",
            "wires": list(CLIENTS),
            "modes": ["async"],
            "profiles": [],
            "capabilities": {
                "stream": True,
                "chunks": True,
                "limit": True,
                "concurrent": True,
                "parallel": True,
                "mixed": True,
                "memory": True,
                "conversations": True,
                "histories": True,
                "shared": True,
                "cancel": True,
                "leave": True,
                "suspend": True,
                "travels": True,
            },
            "dialect": {"limit_counts": "tool-rounds", "rejections": "bare"},
        }

    async def run_async(self, case: Json, emit: Callable[[str], None]) -> Json:
        """Run one case. Cancelling it is cancelling its task."""
        try:
            agent = self._agent(case)
            session = self._session(agent, case)
            said = list(_decided(case["resume"])) if "resume" in case else _said(case["messages"])
            if case["stream"]:
                response = await _streamed(agent, said, session, emit, case["options"].get("leave_after"))
            else:
                response = await agent.run(said, session=session)
            return _outcome(response, agent, session)
        except _Left as left:
            return error(left, "cancelled")
        except Exception as exception:  # noqa: BLE001 - whatever reaches the caller of the loop is the outcome
            return error(exception)

    def _agent(self, case: Json) -> Agent:
        """A new agent, or that of the conversation, or the one that the case shares."""
        id = case.get("shared") or case.get("conversation")
        if id in self._agents:
            return self._agents[id]
        agent = _new_agent(case)
        return agent if id is None else self._agents.setdefault(id, agent)

    def _session(self, agent: Agent, case: Json) -> AgentSession | None:
        """The session of a conversation, of a suspended run, or of a run that may be suspended; others have none."""
        conversation = case.get("conversation")
        if "resume" in case:
            session = AgentSession.from_dict(case["resume"]["state"]["session"])
        elif conversation in self._sessions:
            return self._sessions[conversation]
        elif conversation is None and not any(tool.get("approval") for tool in case["tools"]):
            return None
        else:
            session = agent.create_session()
        if conversation is not None:
            self._sessions[conversation] = session
        return session


class _Left(Exception):
    """The caller has left the stream."""


async def _streamed(
    agent: Agent,
    said: list[Message],
    session: AgentSession | None,
    emit: Callable[[str], None],
    leave_after: int | None,
) -> AgentResponse[Any]:
    """The run as a stream of updates. The caller may leave it after some chunks."""
    chunks = 0
    stream = agent.run(said, stream=True, session=session)
    async for update in stream:
        if update.text:
            emit(update.text)
            chunks += 1
            if chunks == leave_after:
                raise _Left("the caller left the stream")
    return await stream.get_final_response()


def _outcome(response: AgentResponse[Any], agent: Agent, session: AgentSession | None) -> Json:
    """The text of the response, the approvals that it asks for, or the calls of tools without a function.

    The state has the agent's instructions too, which a program that resumes the run has in its code.
    """
    requests = [one for one in response.user_input_requests if one.type == "function_approval_request"]
    if requests and session is not None:
        instructions = agent.default_options.get("instructions")
        asked = [one.to_dict() for one in requests]
        state = {"session": session.to_dict(), "requests": asked, "instructions": instructions}
        return suspended(state, [_pending(one) for one in requests])
    if any(one.type == "function_call" for one in response.user_input_requests):
        return value(response.text, stop="calls")
    return value(response.text)


def _pending(request: Content) -> Json:
    call = request.function_call
    return {"id": request.id, "name": call.name, "arguments": call.parse_arguments()}


def _decided(resume: Json) -> Iterator[Message]:
    """The decisions as messages of the user."""
    requests = {one["id"]: Content.from_dict(one) for one in resume["state"]["requests"]}
    for one in resume["decisions"]:
        yield Message("user", [requests[one["id"]].to_function_approval_response(one["decision"] == "approve")])


def _new_agent(case: Json) -> Agent:
    """An agent with the case's tools; the limit is a setting of its client."""
    functions = handlers(case)
    client = CLIENTS[case["wire"]](model=case["model"], api_key=case["api_key"], base_url=case["base_url"])
    if "limit" in case["options"]:
        client.function_invocation_configuration["max_iterations"] = case["options"]["limit"]
    return Agent(
        client=client,
        instructions=_instructions(case),
        tools=[_tool(one, functions.get(one["name"])) for one in case["tools"]],
    )


def _instructions(case: Json) -> str | None:
    if "resume" in case:
        instructions: str | None = case["resume"]["state"]["instructions"]
        return instructions
    return "\n\n".join(message["content"] for message in case["messages"] if message["role"] == "system") or None


def _tool(one: Json, call: Callable[..., Any] | None) -> Any:
    """The tool as a function; with its schema where no signature says it; a declaration where it has no function."""
    if call is None:
        return FunctionTool(name=one["name"], description=one["description"], input_model=one["parameters"])
    function = written(one, call, annotated=True)
    options = {"approval_mode": "always_require"} if one.get("approval") else {}
    if function is None:
        return tool(name=one["name"], description=one["description"], schema=one["parameters"], **options)(call)
    return tool(**options)(function) if options else function


def _said(messages: list[Json]) -> list[Message]:
    return [Message(message["role"], _contents(message)) for message in messages if message["role"] != "system"]


def _contents(message: Json) -> list[Content | str]:
    """The text of a message, its calls, or the result that it is."""
    if message["role"] == "tool":
        return [Content.from_function_result(message["call_id"], result=message["content"])]
    calls = [
        Content.from_function_call(call["id"], call["name"], arguments=call["arguments"])
        for call in message.get("calls", ())
    ]
    return [message["content"], *calls] if message["content"] else list(calls)
