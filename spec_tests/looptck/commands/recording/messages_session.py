"""Sessions over Messages, with the official SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anthropic

from looptck.commands.recording.client_session import NO_TLS, RequestedCall, RequestOptions, SessionOptions, ToolResult


class MessagesSession:
    """A session in progress."""

    def __init__(self, common: SessionOptions) -> None:
        self._common = common
        self._client = anthropic.Anthropic(
            api_key=common.key,
            base_url=common.base_url.removesuffix("/v1"),
            max_retries=0,
            timeout=common.patience,
            http_client=anthropic.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
        )
        self._messages: list[Any] = [
            {"role": role, "content": text} for role, text in common.messages if role != "system"
        ]
        self.close = self._client.close

    def ask(self, options: RequestOptions) -> list[RequestedCall]:
        """Ask the model; the calls of a turn that was not cut."""
        message = (self._streamed if self._common.stream else self._plain)(self._request(options))
        self._messages.append({"role": "assistant", "content": [_block(block) for block in message.content]})
        if message.stop_reason in {"max_tokens", "model_context_window_exceeded", "refusal"}:
            return []
        calls = (block for block in message.content if block.type == "tool_use")
        return [RequestedCall(call.id, call.name, json.dumps(call.input, ensure_ascii=False)) for call in calls]

    def answer(self, results: Sequence[ToolResult]) -> None:
        """Put the results of a turn's calls into the history."""
        self._messages.append({"role": "user", "content": [_result_block(result) for result in results]})

    def _request(self, options: RequestOptions) -> dict[str, Any]:
        common = self._common
        request: dict[str, Any] = {"model": common.model, "messages": self._messages, "max_tokens": options.most}
        if system := "\n\n".join(text for role, text in common.messages if role == "system"):
            request["system"] = system
        if common.tools:
            request["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in common.tools
            ]
        if options.choice in {"required", "none"}:
            request["tool_choice"] = {"type": "any" if options.choice == "required" else "none"}
        elif options.choice:
            request["tool_choice"] = {"type": "tool", "name": options.choice}
        if options.stop:
            request["stop_sequences"] = [options.stop]
        return request

    def _plain(self, request: dict[str, Any]) -> Any:
        return self._client.messages.create(**request)

    def _streamed(self, request: dict[str, Any]) -> Any:
        with self._client.messages.stream(**request) as stream:
            return stream.get_final_message()


def _result_block(result: ToolResult) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.asked.id, "content": result.text}
    return {**block, "is_error": True} if result.failed else block


def _block(block: Any) -> dict[str, Any]:
    """A block as it came; the SDK's own additions to it are no members of the API."""
    content: dict[str, Any] = block.to_dict()
    content.pop("parsed_output", None)
    return content
