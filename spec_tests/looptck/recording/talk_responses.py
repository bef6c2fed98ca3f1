"""Talks over Responses, on the official SDK, with the whole history in each request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.recording.talk import Asked, Result, Setting, Wish, described
from looptck.recording.talk_chat import client


class Responses:
    """A talk in progress."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._client = client(setting)
        self._items: list[Any] = [{"role": role, "content": text} for role, text in setting.messages]
        self.close = self._client.close

    def ask(self, wish: Wish) -> list[Asked]:
        """Ask the model; the calls of a turn that was not cut."""
        items, status = (self._streamed if self._setting.stream else self._plain)(self._request(wish))
        self._items += [item.to_dict() for item in items]
        if status != "completed":
            return []
        return [Asked(item.call_id, item.name, item.arguments) for item in items if item.type == "function_call"]

    def answer(self, results: Sequence[Result]) -> None:
        """Put the results of a turn's calls into the history."""
        self._items += [
            {"type": "function_call_output", "call_id": result.asked.id, "output": result.text} for result in results
        ]

    def _request(self, wish: Wish) -> dict[str, Any]:
        setting = self._setting
        request: dict[str, Any] = {"model": setting.model, "input": self._items, "max_output_tokens": wish.most}
        if setting.tools:
            request["tools"] = [{"type": "function", **described(tool), "strict": False} for tool in setting.tools]
        if setting.tools and not setting.vendor:
            request["parallel_tool_calls"] = True
        if wish.choice in {"required", "none"}:
            request["tool_choice"] = wish.choice
        elif wish.choice:
            request["tool_choice"] = {"type": "function", "name": wish.choice}
        return request

    def _plain(self, request: dict[str, Any]) -> tuple[list[Any], str | None]:
        response = self._client.responses.create(**request)
        return list(response.output), response.status

    def _streamed(self, request: dict[str, Any]) -> tuple[list[Any], str | None]:
        """The items as each of them was finished: some servers leave them out of the last event."""
        items: list[Any] = []
        status: str | None = None
        for event in self._client.responses.create(**request, stream=True):
            if event.type == "response.output_item.done":
                items.append(event.item)
            elif event.type in {"response.completed", "response.incomplete", "response.failed"}:
                status = event.response.status
        return items, status
