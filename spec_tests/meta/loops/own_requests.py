"""Loops that are correct but write their requests in their own way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import httpx

from looptck_mutants.core.faults import Retrying
from looptck_mutants.parts import asking, speaking
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import closed
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import ChatWire, ResponsesWire


class ReferringWire(ResponsesWire):
    """Sends stored items back as references to their ids."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"type": "item_reference", "id": item["id"]} if item.get("id") else item for item in super().echo(turn)]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {name: value for name, value in body.items() if name not in {"store", "include"}}


class LoneTextWire(ResponsesWire):
    """Sends the system prompt as instructions, and a question that then stands alone as a text, later as a message."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        first, *rest = history
        body = super().request(agent, rest, stream=stream) | {"instructions": first["content"]}
        return body | {"input": rest[0]["content"]} if len(rest) == 1 else body


class SaysALoneText(Driver):
    """Says a question that stands alone in the shorter of the two forms that the Responses API has for it."""

    wires = speaking(responses=LoneTextWire())


class Referring(Driver):
    """Lets the service store its responses, and refers to them."""

    wires = speaking(responses=ReferringWire())


class ThinksByName(Driver):
    """Sends reasoning back only to models whose names it knows as reasoning models, as two frameworks do."""

    class Responses(ResponsesWire):
        """Leaves out reasoning when it sends, whoever has heard it."""

        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            reasons = agent.model.startswith(("o3", "o4-mini", "gpt-5"))
            kept = [item for item in history if reasons or item.get("type") != "reasoning"]
            return super().request(agent, kept, stream=stream)

    wires = speaking(responses=Responses())


class AsksAnotherModel(Driver):
    """Asks another model at once if the service refuses a request, as gateways with fallbacks do."""

    class Falling(Retrying):
        """Names the other model in the second attempt."""

        def again(self, ask: Ask) -> Ask:
            return replace(ask, carried={**ask.carried, "model": "looptck-other"})

    invoker = asking(Falling)


class CallsLast(Driver):
    """Moves calls to the end of their turn, because of a refusal of the service (vercel/ai#13013)."""

    class loop(Loop):  # noqa: N801
        """Keeps the order of calls, and the order of all other parts."""

        def append_turn(self, turn: Turn) -> None:
            ordered = sorted(turn.content, key=lambda piece: piece.get("type") == "tool_use")
            super().append_turn(replace(turn, content=tuple(ordered)))


class TalkativeWire(ChatWire):
    """Adds a sentence to the prompt, and closes all schemas as strict mode requires."""

    def opening(self, messages: Sequence[Json]) -> list[Json]:
        return [
            {**message, "content": f"{message['content']}\n\nThink step by step."}
            if message["role"] == "system"
            else message
            for message in super().opening(messages)
        ]

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        for tool in body.get("tools", ()):
            open_object = tool["function"]["parameters"].get("additionalProperties") is True
            tool["function"]["parameters"] = (
                tool["function"]["parameters"] if open_object else closed(tool["function"]["parameters"])
            )
        return body


class Talkative(Driver):
    """Adds its own sentence to the prompt, and closes schemas as an SDK does."""

    wires = speaking(chat=TalkativeWire())


class _WithPrefix(Agent):
    """An agent whose tools are offered under names with a prefix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "offered", {f"k_{name}"[:64]: tool for name, tool in self.offered.items()})


class OffersWithPrefix(Driver):
    """Offers its tools under names with a prefix, as those of a server or a plugin, and knows them by these names."""

    def agent_of(self, case: Json) -> Agent:
        agent = super().agent_of(case)
        if isinstance(agent, _WithPrefix):
            return agent
        made = _WithPrefix(**{one.name: getattr(agent, one.name) for one in fields(agent) if one.init})
        if "shared" in case:
            self._agents[case["shared"]] = made
        return made


ASKS_FOR_A_TITLE = "Write a title of five words for what follows."


_TITLES: dict[str, tuple[str, Callable[[str], Json]]] = {
    "openai-chat": (
        "/chat/completions",
        lambda text: {"messages": [{"role": "system", "content": ASKS_FOR_A_TITLE}, {"role": "user", "content": text}]},
    ),
    "openai-responses": ("/responses", lambda text: {"instructions": ASKS_FOR_A_TITLE, "input": text, "store": False}),
    "anthropic-messages": (
        "/messages",
        lambda text: {"max_tokens": 20, "system": ASKS_FOR_A_TITLE, "messages": [{"role": "user", "content": text}]},
    ),
}


_TITLER = httpx.Client(headers={"x-api-key": "k", "anthropic-version": "2023-06-01"})


class AsksForATitle(Driver):
    """Asks for a title before a conversation with tools begins, without tools and with a prompt of its own."""

    def run(self, case: Json, emit: OnText) -> Json:
        messages = case.get("messages") or [{"role": "user", "content": ""}]
        if case["tools"] and (messages[0]["role"] == "system" or "agents" in case):
            path, body = _TITLES[case["wire"]]
            asked = {"model": case["model"], **body(messages[-1]["content"])}
            _TITLER.post(case["base_url"] + path, json=asked)
        return super().run(case, emit)
