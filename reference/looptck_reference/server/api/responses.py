"""OpenAI Responses: the plain response to clients, and its items."""

from __future__ import annotations

from looptck_reference.server.api.words import agentic_members
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, Stop, ToolCall

__all__ = ["call_item", "message_item", "response", "shell_of", "text_part"]


def response(answer: Answer) -> Json:
    """The plain response, and the last event of a stream."""
    text = [message_item(answer.run_id, answer.text, "completed")] if answer.text or not answer.calls else []
    calls = [call_item(answer.run_id, at, call, "completed") for at, call in enumerate(answer.calls)]
    whole = answer.stop not in {Stop.LENGTH, Stop.CONTENT_FILTER}
    body = shell_of(answer.run_id, answer.model, answer.created, "completed" if whole else "incomplete")
    body["output"] = [*text, *calls]
    body["usage"] = _usage(answer)
    if not whole:
        reason = "max_output_tokens" if answer.stop is Stop.LENGTH else "content_filter"
        body["incomplete_details"] = {"reason": reason}
    return {**body, **agentic_members(answer)}


def shell_of(run_id: str, model: str, created: int, status: str) -> Json:
    """A response without output."""
    head = {"id": f"resp_{run_id}", "object": "response", "created_at": created, "status": status, "model": model}
    empty: Json = {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "output": []}
    fixed: Json = {"parallel_tool_calls": True, "temperature": None, "tool_choice": "auto", "tools": [], "top_p": None}
    return {**head, **empty, **fixed, "usage": None}


def text_part(text: str) -> Json:
    """Text in a message item."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def message_item(run_id: str, text: str, status: str) -> Json:
    """The text of a run."""
    content = [text_part(text)] if status == "completed" else []
    return {"type": "message", "id": f"msg_{run_id}", "status": status, "role": "assistant", "content": content}


def call_item(run_id: str, at: int, call: ToolCall, status: str) -> Json:
    """A call; the id of its item is not the id of the call."""
    arguments = call.arguments if status == "completed" else ""
    item = {"type": "function_call", "id": f"fc_{run_id}_{at}", "call_id": call.id, "name": call.name}
    return {**item, "arguments": arguments, "status": status}


def _usage(answer: Answer) -> Json | None:
    if answer.usage is None:
        return None
    usage = answer.usage
    given, made = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    thought = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + made,
    }
