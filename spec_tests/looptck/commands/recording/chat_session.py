"""Sessions over Chat Completions, with the official SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from looptck.commands.recording.client_session import (
    NO_TLS,
    RequestedCall,
    RequestOptions,
    SessionOptions,
    ToolResult,
    tool_description,
)


def client(common: SessionOptions) -> openai.OpenAI:
    """A client without retries and without proxies from the environment."""
    return openai.OpenAI(
        api_key=common.key,
        base_url=common.base_url,
        max_retries=0,
        timeout=common.patience,
        http_client=openai.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
    )


class ChatSession:
    """A session in progress."""

    def __init__(self, common: SessionOptions) -> None:
        self._common = common
        self._client = client(common)
        self._messages: list[Any] = [{"role": role, "content": text} for role, text in common.messages]
        self.close = self._client.close

    def ask(self, options: RequestOptions) -> list[RequestedCall]:
        """Ask the model; the calls of a turn that was not cut."""
        choice = (self._streamed if self._common.stream else self._plain)(self._request(options))
        calls = choice.message.tool_calls or ()
        tool_calls = [{"id": call.id, "type": "function", "function": _function(call)} for call in calls]
        message = {"role": "assistant", "content": choice.message.content}
        self._messages.append({**message, "tool_calls": tool_calls} if tool_calls else message)
        if choice.finish_reason in {"length", "content_filter"}:
            return []
        return [RequestedCall(call.id, call.function.name, call.function.arguments) for call in calls]

    def answer(self, results: Sequence[ToolResult]) -> None:
        """Put the results of a turn's calls into the history."""
        self._messages += [
            {"role": "tool", "tool_call_id": result.asked.id, "content": result.text} for result in results
        ]

    def _request(self, options: RequestOptions) -> dict[str, Any]:
        common = self._common
        request: dict[str, Any] = {"model": common.model, "messages": self._messages}
        request["max_completion_tokens" if common.vendor else "max_tokens"] = options.most
        if common.tools:
            request["tools"] = [{"type": "function", "function": tool_description(tool)} for tool in common.tools]
        if common.tools and not common.vendor:
            request["parallel_tool_calls"] = True
        if options.choice in {"required", "none"}:
            request["tool_choice"] = options.choice
        elif options.choice:
            request["tool_choice"] = {"type": "function", "function": {"name": options.choice}}
        if options.stop:
            request["stop"] = [options.stop]
        return request

    def _plain(self, request: dict[str, Any]) -> Any:
        return self._client.chat.completions.create(**request).choices[0]

    def _streamed(self, request: dict[str, Any]) -> Any:
        state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        for chunk in self._client.chat.completions.create(**request):
            state.handle_chunk(chunk)
        return state.current_completion_snapshot.choices[0]


def _function(call: Any) -> dict[str, Any]:
    return {"name": call.function.name, "arguments": call.function.arguments}
