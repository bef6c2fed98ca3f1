"""The rules on items of the service that come back: their ids, their reasoning items, their encrypted content.

A thought and the item after it belong together. The service accepts recorded clients that return neither thought nor
ids. It refuses half of the pair: a thought that has its id without the item after it, and an item that has its id
without the thought that the service has stored for it. Without a memory, much cannot be known and is let through.

After a thought that has its id, an item needs its own id, else the service does not recognize it as the one that the
thought led to. That holds for a message that was rebuilt from its text (recorded: refused where the message had no id,
accepted in all 17 requests where it had one). It holds for a call as well (langchainjs#9082, pydantic-ai#2861), except
in requests that say ``store: false`` and return the thought with its encrypted content: in 9 of 9 of those the service
accepted calls without an id.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from looptck.catalogue.data import json_fixture
from looptck.values.problem import Problem
from looptck.wires.openai_responses.encrypted import tells_encrypted
from looptck.wires.openai_responses.judge.schema_words import unsupported
from looptck.wires.openai_responses.memory import Memory, Sent

RULES = {
    "items-come-once": "An item is in the history once, counting the input and the stored items.",
    "thoughts-come-with-what-followed": "A reasoning item with its id is followed by the item that it led to.",
    "items-come-with-their-thought": "An item with its id follows the reasoning item that led to it.",
    "thoughts-are-the-services": "The encrypted content of a reasoning item is one that the service issued for it.",
    "items-are-kept": "An item that consists only of an id is one that the service has stored.",
}

_BARE = "it came with `encrypted_content`, and is sent back without it"
_UNASKED = 'it came without `encrypted_content`, as its request did not say `include: ["reasoning.encrypted_content"]`'
_CALLS = frozenset({"function_call", "custom_tool_call"})
_REASON = "could not be verified. Reason: Encrypted content"
_STORE = (
    " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item "
    "from your input."
)


def problems(
    items: Sequence[dict[str, Any]],
    first: int,
    memory: Memory | None,
    *,
    stores: bool = True,
    referred: Collection[str] = (),
    seen: dict[str, int] | None = None,
) -> list[Problem]:
    """The problems of returned items, in order; the first ``first`` items are stored ones without problems.

    ``stores``: the request leaves it to the service to store what it comes to. ``referred``: the ids of the items that
    came as references; a call after such a thought may lack its id: that the service refuses it was reported
    (vercel/ai#10829), contested, and never recorded. ``seen``: how often each id is among items before all of these;
    what these have is added.
    """
    found: list[Problem] = []
    seen = {} if seen is None else seen
    for place, item in enumerate(items):
        id = item.get("id")
        kind = item.get("type", "message")
        if kind == "reasoning" and place >= first:
            found += _thought(
                items, place, f"/input/{place - first}", memory, loose=not stores, referred=id in referred
            )
        if id is None:
            if kind == "reasoning" and memory is not None and item.get("encrypted_content") in memory.signatures:
                seen.setdefault(memory.signatures[item["encrypted_content"]], 1)
            continue
        seen[id] = seen.get(id, 0) + 1
        if place >= first:
            found += _named(item, kind, f"/input/{place - first}", seen, memory)
    return found


def gone(id: str, pointer: str, sent: Sent | None, hint: str = "") -> Problem:
    """The problem of an item reference to an item that the service has not stored."""
    promised = sent is not None and sent.reply.promised
    message = f"Item with id '{id}' not found.{_STORE if sent is not None and not promised else ''}"
    return Problem("items-are-kept", f"{pointer}/id", message, status=404, state_missing=promised, hint=hint)


def _named(item: dict[str, Any], kind: str, pointer: str, seen: dict[str, int], memory: Memory | None) -> list[Problem]:
    """The problems of an item with an id, after the items so far."""
    id = item["id"]
    sent = memory.sent(id) if memory is not None else None
    if kind == "x_unknown" and memory is not None and sent is None:
        kinds = json_fixture("wire-schemas/openai-responses.request.json")["$defs"]["item"]["properties"]["type"]
        message = unsupported(kind, kinds["enum"])
        return [Problem("items-are-of-known-kinds", pointer, message, code="invalid_value")]
    if seen[id] > (sent.times if sent is not None else 1):
        message = f"Duplicate item found with id {id}. Remove duplicate items from your input and try again."
        return [Problem("items-come-once", f"{pointer}/id", message)]
    if sent is not None and sent.reply.kept and sent.thought is not None and sent.thought not in seen:
        message = f"Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{sent.thought}'."
        return [Problem("items-come-with-their-thought", pointer, message)]
    return []


def _thought(
    items: Sequence[dict[str, Any]], place: int, pointer: str, memory: Memory | None, *, loose: bool, referred: bool
) -> list[Problem]:
    """The problems of a reasoning item of the input; ``loose``: the request forbids storing."""
    thought = items[place]
    id, signature = thought.get("id"), thought.get("encrypted_content")
    sent = memory.sent(id) if memory is not None and id is not None else None
    if memory is not None and signature:
        if reason := _unverified(id, signature, memory):
            where = f"{pointer}/encrypted_content"
            return [Problem("thoughts-are-the-services", where, reason, code="invalid_encrypted_content")]
    elif memory is not None and id is not None and not (sent is not None and (sent.reply.kept or _open(sent))):
        lost = sent is not None and not signature
        hint = _BARE if sent is not None and tells_encrypted(sent.reply.body) else _UNASKED
        refused = gone(id, pointer, sent, hint if lost else "")
        return [replace(refused, unasked=refused.hint == _UNASKED)]
    if id is None or (sent is not None and not sent.followed):
        return []
    following = items[place + 1] if place + 1 < len(items) else None
    if following is not None and _is_output(following):
        opened = loose and sent is not None and _open(sent)
        bare_call = following.get("type") in _CALLS and (referred or (loose and bool(signature)))
        if opened or bare_call or following.get("id") is not None:
            return []
    message = f"Item '{id}' of type 'reasoning' was provided without its required following item."
    return [Problem("thoughts-come-with-what-followed", pointer, message, hint=_nameless(following))]


def _nameless(following: dict[str, Any] | None) -> str:
    """What the service's message does not say: that the item is there and lacks only its id."""
    if following is None or not _is_output(following) or following.get("id") is not None:
        return ""
    return f"the {following.get('type', 'message')} behind it has no `id`, by which the service would know it"


def _open(sent: Sent) -> bool:
    """Whether a reasoning item was sent without encrypted content, as some servers do: they accept it back."""
    return sent.item["type"] == "reasoning" and not sent.item["encrypted_content"]


def _unverified(id: str | None, signature: str, memory: Memory) -> str:
    """Why the service would refuse an encrypted content; empty if it would accept it."""
    owner = memory.signatures.get(signature)
    what = (
        f"The encrypted content {signature[:4]}...{signature[-4:]}"
        if id is None
        else f"The encrypted content for item {id}"
    )
    if owner is None:
        return f"{what} {_REASON} could not be decrypted or parsed."
    return "" if id in (None, owner) else f"{what} {_REASON} item_id did not match the target item id."


def _is_output(item: dict[str, Any]) -> bool:
    """Whether a model writes items of this kind."""
    kind = item.get("type", "message")
    return item.get("role") == "assistant" if kind == "message" else not kind.endswith("_output")
