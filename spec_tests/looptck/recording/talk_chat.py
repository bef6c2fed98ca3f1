"""Talks over Chat Completions, on the official SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from looptck.recording.talk import NO_TLS, Asked, Result, Setting, Wish, described


def client(setting: Setting) -> openai.OpenAI:
    """A client that asks once, and only where it is told to."""
    return openai.OpenAI(
        api_key=setting.key,
        base_url=setting.base_url,
        max_retries=0,
        timeout=setting.patience,
        http_client=openai.DefaultHttpxClient(trust_env=False, verify=NO_TLS),
    )


class Chat:
    """A talk in progress."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._client = client(setting)
        self._messages: list[Any] = [{"role": role, "content": text} for role, text in setting.messages]
        self.close = self._client.close

    def ask(self, wish: Wish) -> list[Asked]:
        """Ask the model; the calls of a turn that was not cut."""
        choice = (self._streamed if self._setting.stream else self._plain)(self._request(wish))
        calls = choice.message.tool_calls or ()
        told = [{"id": call.id, "type": "function", "function": _function(call)} for call in calls]
        message = {"role": "assistant", "content": choice.message.content}
        self._messages.append({**message, "tool_calls": told} if told else message)
        if choice.finish_reason in {"length", "content_filter"}:
            return []
        return [Asked(call.id, call.function.name, call.function.arguments) for call in calls]

    def answer(self, results: Sequence[Result]) -> None:
        """Put the results of a turn's calls into the history."""
        self._messages += [
            {"role": "tool", "tool_call_id": result.asked.id, "content": result.text} for result in results
        ]

    def _request(self, wish: Wish) -> dict[str, Any]:
        setting = self._setting
        request: dict[str, Any] = {"model": setting.model, "messages": self._messages}
        request["max_completion_tokens" if setting.vendor else "max_tokens"] = wish.most
        if setting.tools:
            request["tools"] = [{"type": "function", "function": described(tool)} for tool in setting.tools]
        if setting.tools and not setting.vendor:
            request["parallel_tool_calls"] = True
        if wish.choice in {"required", "none"}:
            request["tool_choice"] = wish.choice
        elif wish.choice:
            request["tool_choice"] = {"type": "function", "function": {"name": wish.choice}}
        if wish.stop:
            request["stop"] = [wish.stop]
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
