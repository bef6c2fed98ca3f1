"""Files of a run: which are captured, what is told of them, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from looptck_mutants.cells import CHAT_STREAM, MESSAGES
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.loop.values import Json, Turn
from looptck_reference.server.bench import Bench
from looptck_reference.server.events import Event, FileProduced
from looptck_reference.server.files import Origin
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Answer, Record


class FilingLoop(ServerLoop):
    """A loop that bends what is told of the files of a call."""

    def files_of(self, record: Record) -> list[Event]:
        known = len(self.files)
        super().files_of(record)
        self.files[known:] = [replace(one, file=self.body(one.file, one.data, record)) for one in self.files[known:]]
        return [*self.files[known:]]

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        """What is told in place of this."""
        return told


class AnsweringLoop(ServerLoop):
    """A loop that bends its answer."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        return replace(step, answer=self.answer(step.answer))

    def answer(self, answer: Answer) -> Answer:
        """What the client gets in place of this."""
        return answer


def _outputs(record: Record) -> Sequence[str]:
    arguments = record.called.arguments
    return arguments.get("outputs", []) if isinstance(arguments, dict) else []


def _empty(told: Json) -> Json:
    return {**{name: value for name, value in told.items() if name not in {"code", "message"}}, "text": ""}


@breaks("server-files-are-typed")
class SizeInCharacters(FilingLoop):
    """Counts the characters of a text."""

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        return {**told, "bytes": len(told["text"])} if "text" in told else told


@breaks("server-files-are-typed", collateral={"server-files-name-their-round": "tool and round stand side by side"})
class FilesOfNoTool(FilingLoop):
    """Says of a file that Python made it, whatever the tool is called."""

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        return {**told, "source": {**told["source"], "tool": "python"}}


@breaks("server-declared-files-are-captured")
class DeclaredIsNotListed(ServerLoop):
    """Captures no declared file that its call does not list."""

    def files_of(self, record: Record) -> list[Event]:
        left = {*self.declared} - {*_outputs(record)}
        kept = tuple(file for file in record.result.produced if file.name not in left)
        return super().files_of(replace(record, result=replace(record.result, produced=kept)))


@breaks("server-listed-outputs-are-captured")
class ListedOnOneLine(FilingLoop):
    """Loses the line ends of a text that is listed."""

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        listed = "text" in told and told["name"] in _outputs(record)
        return {**told, "text": told["text"].replace("\n", " ")} if listed else told


@breaks("server-new-files-are-surfaced")
class NewFilesStay(Bench):
    """Captures what was named and nothing else."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, dialect=replace(config.dialect, captures="listed"))


@breaks("server-missing-declared-file-is-told")
class MissingFilesAreForgotten(ServerLoop):
    """Says nothing of a declared file that nobody wrote."""

    def never_made(self) -> list[FileProduced]:
        return []


@breaks("server-missing-declared-file-is-told")
class MissingFilesAreEmpty(ServerLoop):
    """Tells of a declared file that nobody wrote as of an empty one."""

    def never_made(self) -> list[FileProduced]:
        known = len(self.files)
        super().never_made()
        self.files[known:] = [replace(one, file=_empty(one.file)) for one in self.files[known:]]
        return self.files[known:]


@breaks(
    "server-files-name-their-round",
    collateral={
        (
            "server-records-list-their-files",
            "server-file-ids-hold-their-round",
            "server-plain-and-stream-record-alike",
        ): "a record finds its files, and an id is made, by the round"
    },
)
class FilesOfTheNextRound(ServerLoop):
    """Attributes a file to the round behind its own."""

    def file_round(self) -> int:
        return self.round + 1


@breaks("server-records-list-their-files")
class RecordsListAllFiles(AnsweringLoop):
    """Lists in each record the files of the whole run."""

    def answer(self, answer: Answer) -> Answer:
        ids = [file["id"] for file in answer.files]
        return replace(answer, tool_calls=tuple({**one, "file_ids": ids} for one in answer.tool_calls or ()))


@breaks("server-files-are-streamed", cells=CHAT_STREAM)
class StreamsTwoFilesOfACall(ServerLoop):
    """Streams no more than two files of a call."""

    def files_of(self, record: Record) -> list[Event]:
        return super().files_of(record)[:2]


@breaks(
    "server-files-stand-in-the-plain-reply",
    collateral={"server-messages-carry-files": "a Messages reply has them from the same place"},
)
class RepliesWithTwoFilesOfACall(AnsweringLoop):
    """Has no more than two files of a round in a plain reply."""

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, files=tuple(file for file in answer.files if not file["id"].endswith("_2")))


@breaks("server-messages-carry-files", cells=MESSAGES)
class MessagesWithoutFiles(AnsweringLoop):
    """Has no files in a plain Messages reply, whose request alone says max_tokens."""

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, files=()) if "max_tokens" in self.request.options else answer


@breaks("server-files-come-before-complete", cells=CHAT_STREAM)
class CompleteBeforeItsFiles(ServerLoop):
    """Sends `complete` before the files of its call."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return sorted(super().events_after(record), key=lambda event: isinstance(event, FileProduced))


@dataclass(frozen=True, slots=True)
class Roundless(Origin):
    """An origin whose id counts without the round."""

    @property
    def file_id(self) -> str:
        return f"file_{self.run_id[:12]}_{self.round}_{self.index}"


@breaks("server-file-ids-hold-their-round")
class IdsWithoutTheirRound(ServerLoop):
    """Makes ids without a mark of the round."""

    def _origin(self, tool: str, round_: int) -> Any:
        origin = super()._origin(tool, round_)
        return Roundless(origin.run_id, origin.tool, origin.round, origin.index, origin.turn)


@breaks("server-large-files-are-fetched-not-inlined")
class LargeFilesAreInlined(FilingLoop):
    """Has the body of every text in its reply."""

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        return told if "data_base64" in told else {**told, "text": data.decode()}
