"""Sessions over Responses, with the official SDK and the whole history in each request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.commands.recording.chat_session import client
from looptck.commands.recording.client_session import (
    RequestedCall,
    RequestOptions,
    SessionOptions,
    ToolResult,
    tool_description,
)


class ResponsesSession:
    """A session in progress."""

    def __init__(self, common: SessionOptions) -> None:
        self._common = common
        self._client = client(common)
        self._items: list[Any] = [{"role": role, "content": text} for role, text in common.messages]
        self.close = self._client.close

    def ask(self, options: RequestOptions) -> list[RequestedCall]:
        """Ask the model; the calls of a turn that was not cut."""
        items, status = (self._streamed if self._common.stream else self._plain)(self._request(options))
        self._items += [item.to_dict() for item in items]
        if status != "completed":
            return []
        return [
            RequestedCall(item.call_id, item.name, item.arguments) for item in items if item.type == "function_call"
        ]

    def answer(self, results: Sequence[ToolResult]) -> None:
        """Put the results of a turn's calls into the history."""
        self._items += [
            {"type": "function_call_output", "call_id": result.asked.id, "output": result.text} for result in results
        ]

    def _request(self, options: RequestOptions) -> dict[str, Any]:
        common = self._common
        request: dict[str, Any] = {"model": common.model, "input": self._items, "max_output_tokens": options.most}
        if common.tools:
            request["tools"] = [
                {"type": "function", **tool_description(tool), "strict": False} for tool in common.tools
            ]
        if common.tools and not common.vendor:
            request["parallel_tool_calls"] = True
        if options.choice in {"required", "none"}:
            request["tool_choice"] = options.choice
        elif options.choice:
            request["tool_choice"] = {"type": "function", "name": options.choice}
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
