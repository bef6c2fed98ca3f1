"""Loops that are made for other servers than the service whose API they speak."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.parts import speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ResponsesWire


class IdsOfItsOwn(Driver):
    """Gives the results ids without the prefix of their kind, which several servers accept."""

    class _Wire(ResponsesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            results = "function_call_output"
            named = [
                {**one, "id": f"output_{at}"} if one.get("type") == results else one
                for at, one in enumerate(body["input"])
            ]
            return {**body, "input": named}

    wires = speaking(responses=_Wire())


class WordOfItsOwn(Driver):
    """Sends a parameter that nobody knows."""

    class _Wire(ResponsesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            return {**super().request(agent, history, stream=stream), "x_own": True}

    wires = speaking(responses=_Wire())
