"""Loops that prune in other ways than the reference: with a word for each old result, or a note beside the question."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json


class ClearsOldResults(Driver):
    """Keeps all calls, and clears what old ones returned, as the service's own editing of contexts does."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def remembered(self) -> Sequence[Json]:
            """The history, with a word in the place of each old result."""
            kept = super().remembered()
            old = len(self.history) - (len(kept) - self.round_ends[0])
            return [*map(_cleared, self.history[:old]), *self.history[old:]]


def _cleared(message: Json) -> Json:
    blocks = message["content"]
    if not isinstance(blocks, list):
        return message
    said = [{**one, "content": "[cleared]"} if one["type"] == "tool_result" else one for one in blocks]
    return {**message, "content": said}


class NotesWhatIsGone(Driver):
    """Prunes as the reference does, and says so behind the user's last question of the prompt."""

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            """What is kept, with a note if that is not all."""
            kept = list(super().remembered())
            if len(kept) < len(self.history):
                place = max(n for n, one in enumerate(kept[: self.round_ends[0]]) if one["role"] == "user")
                kept[place] = {**kept[place], "content": f"{kept[place]['content']}\n\n(Older rounds are left out.)"}
            return kept
