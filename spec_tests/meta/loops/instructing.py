"""Loops with one place for instructions, and what they make of a prompt that has some further down."""

from __future__ import annotations

from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Json


class _OnePlace(Driver):
    """Has the instructions before all else."""

    def run(self, case: Json, emit: OnText) -> Json:
        try:
            placed = self.placed(case["messages"])
        except ValueError as error:
            return {"kind": "error", "reason": "other", "type": "ValueError", "message": str(error)}
        return super().run({**case, "messages": placed}, emit)

    def placed(self, messages: list[Json]) -> list[Json]:
        """The prompt with all instructions where they may be."""
        raise NotImplementedError


class Joins(_OnePlace):
    """Joins all instructions."""

    def placed(self, messages: list[Json]) -> list[Json]:
        texts = [message["content"] for message in messages if message["role"] == "system"]
        others = [message for message in messages if message["role"] != "system"]
        return [{"role": "system", "content": "\n\n".join(texts)}, *others] if texts else others


class LetsTheUserSay(_OnePlace):
    """Has the user say what comes later."""

    def placed(self, messages: list[Json]) -> list[Json]:
        return [
            {**message, "role": "user"} if message["role"] == "system" and place else message
            for place, message in enumerate(messages)
        ]


class Refuses(_OnePlace):
    """Says that it has no other place for them."""

    def placed(self, messages: list[Json]) -> list[Json]:
        if any(message["role"] == "system" for message in messages[1:]):
            raise ValueError("instructions come first")
        return messages


class Forgets(_OnePlace):
    """Takes what comes first: this is a fault."""

    def placed(self, messages: list[Json]) -> list[Json]:
        return [message for place, message in enumerate(messages) if message["role"] != "system" or not place]
