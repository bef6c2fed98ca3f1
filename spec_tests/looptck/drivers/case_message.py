"""The ``case`` that a driver receives for one run (``fixtures/protocol/to-driver.schema.json``)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from looptck.catalogue.agents import Agent, Input, Tool, agent
from looptck.drivers.prompty_files import stage
from looptck.values.cell import Cell
from looptck.values.framing import MODEL
from looptck.values.frozen import dataclass
from looptck.values.team import Member

API_KEY = "looptck-dummy-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run, in addition to its scenario."""

    agent: str = "assistant"
    model: str = MODEL
    """The model name that the implementation should use."""
    question: str | None = "Go."
    """The input `question`; None: its default."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Further inputs."""
    limit: int | None = None
    tools: Sequence[Tool] | None = None
    """Tools that replace those of the agent."""
    kinds: Sequence[str] = ()
    """The kinds of tools for which the driver should register a handler."""
    as_file: bool = False
    """Whether the agent is also passed as a file, which the driver should load."""
    keep_rounds: int | None = None
    """How many of the latest rounds each request should carry; None: all."""
    mcp_servers: Sequence[Mapping[str, str]] = ()
    """MCP servers that the service should call itself: name and url of each."""
    hosted_tools: Sequence[Mapping[str, Any]] = ()
    """The tools that the service should run itself, in addition to those of MCP servers, in the protocol's form."""
    telemetry: bool = False
    """Whether the driver should export its spans."""
    context: Sequence[Mapping[str, Any]] | None = None
    """The Agent/Loop messages that the run begins with, instead of the agent's prompt and the question."""
    output_schema: Mapping[str, Any] | None = None
    """JSON Schema of the output that ends the run."""
    confirms: bool = False
    """Whether the driver should ask for confirmation: before the calls of tools with approval, in 010 before each."""
    conversation: str | None = None
    """The conversation that the run begins or goes on with."""
    goes_on: bool = False
    """Whether the conversation has had a run, so that only the user's message is new."""
    history: Sequence[Mapping[str, Any]] = ()
    """Messages of earlier turns, which come before the question."""
    shared: str | None = None
    """The agent object that the run shares with others."""
    resume: Mapping[str, Any] | None = None
    """The state of the suspended run that this one resumes, and the decisions."""
    leave_after: int | None = None
    """The number of chunks after which the caller leaves the stream."""
    tool_choice: str | Mapping[str, str] | None = None
    """What the caller says about calls, in the protocol's form; None: nothing."""
    parallel_calls: bool | None = None
    """Whether a turn may have several calls; None: the caller says nothing."""
    agents: Sequence[Member] = ()
    """Several agents in place of one, the first of which begins."""

    @property
    def actor(self) -> Agent:
        return agent(self.agent)

    @property
    def given(self) -> dict[str, Any]:
        """The inputs, with the question of a prompt."""
        if self.context is not None:
            return dict(self.inputs)
        return {**({} if self.question is None else {"question": self.question}), **self.inputs}

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Roles and texts of the prompt; none if the run begins with a context."""
        if self.context is not None or self.resume is not None:
            return ()
        prompt = self.actor.messages(self.given)
        return tuple(one for one in prompt if one[0] == "user") if self.goes_on or self.agents else prompt

    @property
    def template(self) -> tuple[tuple[str, str], ...]:
        """Roles and texts before the inputs are filled in."""
        template = self.actor.template if self.context is None else ()
        return tuple(one for one in template if one[0] == "user") if self.agents else template

    @property
    def declared(self) -> tuple[Input, ...]:
        """The inputs that the prompt has places for."""
        return self.actor.inputs if self.context is None else ()

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tools of the run."""
        return self.actor.tools if self.tools is None else tuple(self.tools)


def case(
    setting: RunOptions,
    cell: Cell,
    url: str,
    *,
    name: str,
    profile: str,
    id: str,
    servers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The case without its files and its telemetry.

    Args:
        setting: what differs from the usual case.
        cell: the wire, the framing and the mode.
        url: the URL of its mock run.
        name: the name of the check.
        profile: the profile of the run.
        id: the id of the run.
        servers: the paths of the MCP servers that the loop is a client of, by name.
    """
    actor = setting.actor
    content: dict[str, Any] = {
        "name": name,
        "id": id,
        "profile": profile,
        "wire": cell.wire,
        "stream": cell.stream,
        "mode": cell.mode,
        "base_url": f"{url}/v1",
        "api_key": API_KEY,
        "model": setting.model,
        "agent": {
            "name": actor.name,
            "description": actor.description,
            "template": [{"role": role, "content": text} for role, text in setting.template],
            "inputs": [_input(one) for one in setting.declared],
        },
        "messages": _messages(setting),
        "inputs": setting.given,
        "tools": [_tool(tool, url) for tool in setting.offered],
        "tools_url": f"{url}/mcp",
        "options": _options(setting),
    }
    if setting.context is not None:
        content["context"] = [dict(message) for message in setting.context]
    if setting.output_schema is not None:
        content["output_schema"] = dict(setting.output_schema)
    for key in ("conversation", "shared", "resume"):
        if (value := getattr(setting, key)) is not None:
            content[key] = value
    if setting.agents:
        content["agents"] = [member.serializable() for member in setting.agents]
        content["agent"] |= {key: content["agents"][0][key] for key in ("name", "description")}
    if setting.confirms:
        content["confirm"] = f"{url}/confirm"
    if setting.mcp_servers:
        content["mcp_servers"] = [dict(server) for server in setting.mcp_servers]
    if servers:
        content["tool_servers"] = [{"name": one, "url": url + path} for one, path in servers.items()]
    if setting.hosted_tools:
        content["hosted_tools"] = [dict(tool) for tool in setting.hosted_tools]
    if setting.kinds:
        content["kinds"] = {kind: f"{url}/kinds/{kind}" for kind in setting.kinds}
    if below := [tool for child in actor.children for tool in child.tools if tool.handled]:
        content["handlers"] = {tool.name: f"{url}/tools/{quote(tool.name, safe='')}" for tool in below}
    return content


def with_files(
    content: dict[str, Any], setting: RunOptions, cell: Cell, folder: Path, *, as_guide: bool = False
) -> None:
    """Write the agent and its child agents into a folder, and add the file to the case.

    ``as_guide``: in the form of the Agent Mode guide.
    """
    path = stage(
        setting.actor,
        folder,
        cell,
        base_url=content["base_url"],
        api_key=content["api_key"],
        model=_other(setting),
        as_guide=as_guide,
    )
    content["agent"]["path"] = str(path)


def with_telemetry(content: dict[str, Any], endpoint: str) -> str:
    """Add the endpoint for spans and a parent span to the case; returns the trace id."""
    trace = secrets.token_hex(16)
    content["telemetry"] = {"endpoint": endpoint, "traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"}
    return trace


def _other(setting: RunOptions) -> str | None:
    """The model's name if it is not the one in the files."""
    return None if setting.model == MODEL else setting.model


OPTIONS = ("limit", "leave_after", "keep_rounds", "tool_choice", "parallel_calls")


def _options(setting: RunOptions) -> dict[str, Any]:
    content = {name: getattr(setting, name) for name in OPTIONS}
    return {name: value for name, value in content.items() if value is not None}


def _messages(setting: RunOptions) -> list[dict[str, Any]]:
    """The prompt, with the history between the instructions that it begins with and the question."""
    prompt = [{"role": role, "content": text} for role, text in setting.messages]
    instructions = [*takewhile(lambda message: message["role"] == "system", prompt)]
    return [*instructions, *map(dict, setting.history), *prompt[len(instructions) :]]


def _input(one: Input) -> dict[str, Any]:
    content = {"name": one.name, "kind": one.kind, "description": one.description}
    return content if one.default is None else {**content, "default": one.default}


def _tool(tool: Tool, url: str) -> dict[str, Any]:
    content: dict[str, Any] = {
        "name": tool.name,
        "kind": tool.kind,
        "description": tool.description,
        "parameters": tool.parameters,
        "url": f"{url}/tools/{quote(tool.name, safe='')}" if tool.handled else None,
    }
    for mark in ("strict", "approval"):
        if getattr(tool, mark):
            content[mark] = True
    if tool.bindings:
        content["bindings"] = dict(tool.bindings)
    for key in ("path", "mode", "handler"):
        if (value := getattr(tool, key)) is not None:
            content[key] = value
    return content
