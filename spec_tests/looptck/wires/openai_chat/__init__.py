"""The wire ``openai-chat``: OpenAI's Chat Completions API, plain and streamed."""

from __future__ import annotations

from looptck.wires.openai_chat.encode import body, error_body, events, without_finish
from looptck.wires.openai_chat.judge import judge, refusal
from looptck.wires.openai_chat.read import read
from looptck.wires.wire import Wire

OPENAI_CHAT = Wire(
    name="openai-chat",
    route="/chat/completions",
    body=body,
    events=events,
    without_finish=without_finish,
    error_body=error_body,
    judge=judge,
    refusal=refusal,
    read=read,
)
