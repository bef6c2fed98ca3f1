"""Talks over Messages, on the official SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anthropic

from looptck.recording.talk import NO_TLS, Asked, Result, Setting, Wish


class Messages:
    """A talk in progress."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._client = anthropic.Anthropic(
            api_key=setting.key,
            base_url=setting.base_url.removesuffix("/v1"),
            max_retries=0,
            timeout=setting.patience,
            http_client=anthropic.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
        )
        self._messages: list[Any] = [
            {"role": role, "content": text} for role, text in setting.messages if role != "system"
        ]
        self.close = self._client.close

    def ask(self, wish: Wish) -> list[Asked]:
        """Ask the model; the calls of a turn that was not cut."""
        message = (self._streamed if self._setting.stream else self._plain)(self._request(wish))
        self._messages.append({"role": "assistant", "content": [_block(block) for block in message.content]})
        if message.stop_reason in {"max_tokens", "model_context_window_exceeded", "refusal"}:
            return []
        calls = (block for block in message.content if block.type == "tool_use")
        return [Asked(call.id, call.name, json.dumps(call.input, ensure_ascii=False)) for call in calls]

    def answer(self, results: Sequence[Result]) -> None:
        """Put the results of a turn's calls into the history."""
        self._messages.append({"role": "user", "content": [_told(result) for result in results]})

    def _request(self, wish: Wish) -> dict[str, Any]:
        setting = self._setting
        request: dict[str, Any] = {"model": setting.model, "messages": self._messages, "max_tokens": wish.most}
        if system := "\n\n".join(text for role, text in setting.messages if role == "system"):
            request["system"] = system
        if setting.tools:
            request["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in setting.tools
            ]
        if wish.choice in {"required", "none"}:
            request["tool_choice"] = {"type": "any" if wish.choice == "required" else "none"}
        elif wish.choice:
            request["tool_choice"] = {"type": "tool", "name": wish.choice}
        if wish.stop:
            request["stop_sequences"] = [wish.stop]
        return request

    def _plain(self, request: dict[str, Any]) -> Any:
        return self._client.messages.create(**request)

    def _streamed(self, request: dict[str, Any]) -> Any:
        with self._client.messages.stream(**request) as stream:
            return stream.get_final_message()


def _told(result: Result) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.asked.id, "content": result.text}
    return {**block, "is_error": True} if result.failed else block


def _block(block: Any) -> dict[str, Any]:
    """A block as it came; the SDK's own additions to it are no members of the API."""
    told: dict[str, Any] = block.to_dict()
    told.pop("parsed_output", None)
    return told
