"""Faults in how a history that the caller gives reaches the model."""

# mypy: disable-error-code="import-not-found, misc, no-any-return, has-type"

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_sync
import messages_async
import responses_items
import responses_stateful

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json


class IdsRenumbered(chat_sync.Driver):
    """Calls get new ids that begin anew in each turn, and results ids that do not."""

    class run_of(chat_sync.Run):
        def prompt(self) -> list[Json]:
            results, written = count(), super().prompt()
            for message in written:
                for at, call in enumerate(message.get("tool_calls", ())):
                    call["id"] = f"call_{at}"
                if message["role"] == "tool":
                    message["tool_call_id"] = f"call_{next(results)}"
            return written


class TextBesideCallsDropped(chat_sync.Driver):
    """A turn has calls or text, so the text of a turn with calls is lost."""

    class run_of(chat_sync.Run):
        def prompt(self) -> list[Json]:
            return [{**one, "content": None} if one.get("tool_calls") else one for one in super().prompt()]


class CallsDropped(messages_async.Driver):
    """Of a given history only texts are taken."""

    class thread(messages_async.Thread):
        def take(self, given: list[Json]) -> None:
            super().take([{key: one[key] for key in ("role", "content")} for one in given if one["role"] != "tool"])


class LatestOfEachRole(messages_async.Driver):
    """Roles have to alternate, so of turns of one role that follow each other the last one stays."""

    class thread(messages_async.Thread):
        def say(self, role: str, blocks: list[Json], joins: bool = False) -> None:
            last = self.messages[-1] if self.messages else {}
            if last.get("role") == role and last["content"][0]["type"] == "text" == blocks[0]["type"]:
                self.messages.pop()
            super().say(role, blocks, joins)


class HistoryInWords(responses_items.Driver):
    """Calls and results of a given history become text."""

    class run_of(responses_items.Run):
        """Tells of calls and results in words."""

        def __init__(self, *given: object) -> None:
            super().__init__(*given)
            self.own = [{"role": self.role(one), "content": self.told(one)} for one in self.case["messages"]]

        def role(self, message: Json) -> str:
            return "user" if message["role"] == "tool" else message["role"]

        def told(self, message: Json) -> str:
            calls = [f"[called {one['name']} with {json.dumps(one['arguments'])}]" for one in message.get("calls", ())]
            return "\n".join(filter(None, [message["content"], *calls]))


class ArgumentsQuotedTwice(responses_stateful.Driver):
    """Arguments of given calls are written as JSON twice, so that they are a string."""

    class loop(responses_stateful.Loop):
        def question(self) -> list[Json]:
            found = super().question()
            for item in found:
                if item["type"] == "function_call":
                    item["arguments"] = json.dumps(item["arguments"])
            return found


class EqualResultsOnce(responses_items.Driver):
    """Of given results with the same text the first one stays."""

    class run_of(responses_items.Run):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)
            kept, seen = [], set()
            for item in self.own:
                if item.get("type") == "function_call_output" and item["output"] in seen:
                    continue
                seen.add(item.get("output"))
                kept.append(item)
            self.own = kept
