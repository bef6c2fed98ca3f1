"""Text that reaches the caller late or twice: the text that the driver forwards."""

from __future__ import annotations

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.telling import Emit
from looptck_reference.vocabulary.values import Json


@breaks(
    "final-text-arrives-as-it-is-written", cells=CHAT_STREAM, collateral={"end-is-told-once": "text follows the end"}
)
class Hoarder(Driver):
    """Forwards the final text only when it is complete."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Forward one piece at the end."""
        held: list[str] = []
        outcome = super().run(case, lambda told: held.append(told) if isinstance(told, str) else emit(told))
        emit("".join(held))
        return outcome


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM, collateral={"end-is-told-once": "text follows the end"})
class SaidTwice(Driver):
    """Forwards the whole answer a second time at its end."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Forward all pieces, and then the whole text."""
        outcome = super().run(case, emit)
        if case["stream"] and outcome["kind"] == "value":
            emit(outcome["text"])
        return outcome


@breaks("text-beside-calls-is-handed-on-once", cells=CHAT_STREAM)
class TurnsAreSaidAgain(Driver):
    """Forwards the whole text of a turn once more where its calls begin."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Keep what was said since the last call."""
        said: list[str] = []

        def forward(told: str | Json) -> None:
            if isinstance(told, str):
                said.append(told)
            elif told["kind"] == "call" and said:
                emit("".join(said))
                said.clear()
            emit(told)

        return super().run(case, forward)


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM)
class NothingIsHandedOn(Driver):
    """Forwards the text of the first delta, which has none."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Forward nothing, and then all pieces."""
        if case["stream"] and "leave_after" not in case["options"]:
            emit(None)
        return super().run(case, emit)


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM)
class SentencesOnly(Driver):
    """Forwards whole sentences, and what follows the last of them never."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Hold what comes until a sign ends it."""
        held: list[str] = []

        def forward(told: str | Json | None) -> None:
            if not isinstance(told, str):
                emit(told)
                return
            held.append(told)
            if told.rstrip().endswith((".", "!", "?", ":")):
                emit("".join(held))
                held.clear()

        return super().run(case, forward)


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM)
class BlanksAreNoNews(Driver):
    """Forwards no piece that is empty once it is stripped."""

    def run(self, case: Json, emit: Emit) -> Json:
        """Forward the pieces with something in them."""
        return super().run(case, lambda told: emit(told) if str(told).strip() else None)
