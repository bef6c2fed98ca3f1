"""What a server sends, checked against the kit's schemas: one for each body and each kind of event.

The schemas are under ``fixtures/server``. They are open: members that a server adds to the documented ones are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import jsonschema_rs

from looptck.bench.client.places import Places
from looptck.bench.client.reply import APPROVAL, DONE, FILE, PROGRESS, Reply
from looptck.catalogue.data import fixture, json_fixture
from looptck.catalogue.yaml_files import pointer
from looptck.values.plain import cut
from looptck.values.transcript import ServerEvent

ENDING = ".schema.json"
NAMED = {PROGRESS: "progress", FILE: "file", APPROVAL: "approval-required"}
"""The schemas of the events that a server adds to those of a wire, by their names."""

MOST = 3
"""How many faults a sentence names."""
LONGEST = 80
"""The most characters of a wrong value in a fault."""
_VALUE = "\ufffc"
"""Where a wrong value goes in the validator's message."""


def faults(schema: str, value: Any) -> list[str]:
    """Where a value leaves the schema of this name, and how; empty: it fits."""
    try:
        return [f"{pointer(error.instance_path)}: {_said(error)}" for error in _validator(schema).iter_errors(value)]
    except ValueError as error:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold
        return [f"/: {error}"]


def reply_faults(reply: Reply) -> list[str]:
    """Where the body of a plain reply, or of an error, leaves its schema."""
    return faults(f"{reply.wire}.reply" if reply.status == 200 else "error.reply", reply.body)


def event_faults(wire: str, event: ServerEvent) -> list[str]:
    """Where the data of an event leaves the schema of its kind; the end marker has none, nor has an unknown kind."""
    if event.name in NAMED:
        return faults(NAMED[event.name], event.value)
    if event.value == DONE or (wire == "openai-chat" and event.name):
        return []
    return faults(f"{wire}.event", event.value)


def stream_faults(reply: Reply) -> list[str]:
    """Where the events of a stream leave their schemas or places, each fault with the number and name of its event."""
    places = Places(reply.wire)
    return [
        f"event {at}{f' ({event.name})' if event.name else ''}: {fault}"
        for at, event in enumerate(reply.events)
        for fault in (*event_faults(reply.wire, event), *places.faults(event.value))
    ]


def in_words(found: Sequence[str]) -> str:
    """The first faults of several in one sentence, and how many there are beyond them."""
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    return "; ".join([*found[:MOST], *more])


@cache
def _validator(name: str) -> jsonschema_rs.Validator:
    schema = json_fixture(f"server/{name}{ENDING}")
    return jsonschema_rs.validator_for(schema, registry=_registry(), mask=_VALUE)


@cache
def _registry() -> jsonschema_rs.Registry:
    """All of them by their ids, for they point at each other."""
    found = [json_fixture(f"server/{path.name}") for path in sorted(fixture("server").glob(f"*{ENDING}"))]
    return jsonschema_rs.Registry([(schema["$id"], schema) for schema in found])


def _said(error: jsonschema_rs.ValidationError) -> str:
    """The validator's message, in which a long value is cut, so that what is wrong with it is not."""
    return error.message.replace(_VALUE, cut(json.dumps(error.instance, ensure_ascii=False), LONGEST))
