"""Words of a loop's own behind all that was said: meant for one request, and no part of the history."""

from __future__ import annotations

import copy
from typing import Any

from looptck.bench.oracle import same_role
from looptck.bench.run import Run
from looptck.values.history import Item, Said
from looptck.values.transcript import Received

HISTORIES = ("/messages/", "/input/")
"""Where the pointers of a request's history begin."""


def lasting(run: Run, received: Received) -> list[Item]:
    """What a request says, without the reminders at its end."""
    items = list(received.request.items)
    return items[: len(items) - len(_reminders(run, received))]


def lasting_body(run: Run, received: Received) -> dict[str, Any]:
    """The body of a request, without the reminders at its end."""
    body: dict[str, Any] = copy.deepcopy(received.body)
    for one in _reminders(run, received):
        history, n, *rest = one.pointer.split("/")[1:]
        message = body[history][int(n)]
        if len(rest) > 1 and len(message["content"]) > 1:
            message["content"].pop(int(rest[1]))
        else:
            body[history].pop(int(n))
    return body


def has_words_of(given: object, sent: object) -> bool:
    """Whether a message of a request has all words of a given one, be it with a note of the loop's own beside them."""
    if not isinstance(given, Said) or not isinstance(sent, Said):
        return False
    return same_role(given.role, sent.role) and given.text.strip() in sent.text


def written_anew(run: Run, before: Item, after: Item) -> bool:
    """Whether a message holds instructions that a loop writes anew for each request: both have the caller's words."""
    if not isinstance(before, Said) or not isinstance(after, Said):
        return False
    given = [text for role, text in run.prompt if same_role(role, "system") and text in before.text]
    instruct = all(same_role(one.role, "system") for one in (before, after))
    return instruct and given != [] and all(text in after.text for text in given)


def _reminders(run: Run, received: Received) -> list[Said]:
    """The last texts of a request that neither the prompt nor the model has, the last one first."""
    found = []
    for item in reversed(received.request.items):
        if not isinstance(item, Said) or item.role == "assistant" or not item.pointer.startswith(HISTORIES):
            break
        if any(text in item.text for _, text in run.prompt):
            break
        found.append(item)
    return found
