"""Files of a run: their capture, their descriptions, and the time of their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from looptck_mutants.cells import CHAT_STREAM, MESSAGES
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, FileProduced
from looptck_reference.server.files import Origin
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.steps import Fail, Finish, Step
from looptck_reference.server.values import Answer, Produced, Record, Result
from looptck_reference.vocabulary.values import Json, Turn


class FilingLoop(ServerLoop):
    """A loop that changes the descriptions of a call's files."""

    def files_of(self, record: Record) -> list[Event]:
        known = len(self.files)
        super().files_of(record)
        self.files[known:] = [replace(one, file=self.body(one.file, one.data, record)) for one in self.files[known:]]
        return [*self.files[known:]]

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        """The description to send instead of the original."""
        return original


class AnsweringLoop(ServerLoop):
    """A loop that changes its answer."""

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step = super().finish(turn, capped=capped)
        return replace(step, answer=self.answer(step.answer))

    def answer(self, answer: Answer) -> Answer:
        """The answer for the client instead of the original."""
        return answer


def _outputs(record: Record) -> Sequence[str]:
    arguments = record.called.arguments
    return arguments.get("outputs", []) if isinstance(arguments, dict) else []


def _empty(original: Json) -> Json:
    return {**{name: value for name, value in original.items() if name not in {"code", "message"}}, "text": ""}


@breaks("server-files-are-typed")
class SizeInCharacters(FilingLoop):
    """Reports the size of a text in characters instead of bytes."""

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        return {**original, "bytes": len(original["text"])} if "text" in original else original


@breaks(
    "server-files-are-typed", collateral={"server-files-name-their-round": "its check compares tool and round together"}
)
class FilesOfNoTool(FilingLoop):
    """Names Python as the tool of every file."""

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        return {**original, "source": {**original["source"], "tool": "python"}}


@breaks("server-declared-files-are-captured")
class DeclaredIsNotListed(ServerLoop):
    """Does not capture a declared file that its call does not list."""

    def files_of(self, record: Record) -> list[Event]:
        left = {*self.declared} - {*_outputs(record)}
        kept = tuple(file for file in record.result.produced if file.name not in left)
        return super().files_of(replace(record, result=replace(record.result, produced=kept)))


@breaks("server-listed-outputs-are-captured")
class ListedOnOneLine(FilingLoop):
    """Replaces line breaks in listed texts."""

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        listed = "text" in original and original["name"] in _outputs(record)
        return {**original, "text": original["text"].replace("\n", " ")} if listed else original


@breaks("server-listed-outputs-are-captured")
class BinaryFilesAreText(FilingLoop):
    """Returns a listed binary file as text."""

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        if "data_base64" not in original:
            return original
        kept = {name: value for name, value in original.items() if name != "data_base64"}
        return {**kept, "text": data.decode("utf-8", "replace")}


@breaks("server-files-stay-in-the-working-directory")
class FilesFromAnywhere(ServerLoop):
    """Hands out whatever file outputs or the request name."""

    def files_of(self, record: Record) -> list[Event]:
        work = Path(record.result.data.get("working_directory", "/"))
        named = [name for name in (*_outputs(record), *self.declared) if name.startswith(("/", ".."))]
        found = tuple(Produced(name, (work / name).read_bytes()) for name in named if (work / name).is_file())
        result = replace(record.result, produced=(*record.result.produced, *found))
        return super().files_of(replace(record, result=result))


@breaks("server-new-files-are-surfaced")
class NewFilesOfLaterRoundsStay(ServerLoop):
    """Captures new files that no call lists in the first round only."""

    def files_of(self, record: Record) -> list[Event]:
        named = {*_outputs(record), *self.declared}
        kept = tuple(file for file in record.result.produced if self.round == 0 or file.name in named)
        return super().files_of(replace(record, result=replace(record.result, produced=kept)))


@breaks("server-missing-declared-file-is-told")
class MissingFilesAreForgotten(ServerLoop):
    """Does not report a declared file that no tool has written."""

    def never_made(self) -> list[FileProduced]:
        return []


@breaks("server-missing-declared-file-is-told")
class MissingOutputsAreErrors(ServerLoop):
    """Ends a run with an error if a call lists a file that its program has not written."""

    def tool_ended(self, result: Result) -> Step:
        arguments = self._waiting[0].arguments
        listed = arguments.get("outputs", []) if isinstance(arguments, dict) else []
        missing = {*listed} - {file.name for file in result.produced}
        return Fail(Refused(422, f"{missing} is missing")) if missing else super().tool_ended(result)


@breaks("server-missing-declared-file-is-told")
class MissingFilesAreEmpty(ServerLoop):
    """Reports a declared file that no tool has written as empty."""

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
        ): "records and ids of files use the round"
    },
)
class FilesOfTheNextRound(ServerLoop):
    """Attributes a file to the round after its own."""

    def file_round(self) -> int:
        return self.round + 1


@breaks("server-records-list-their-files")
class RecordsListAllFiles(AnsweringLoop):
    """Lists the files of the whole run in each record."""

    def answer(self, answer: Answer) -> Answer:
        ids = [file["id"] for file in answer.files]
        return replace(answer, tool_calls=tuple({**one, "file_ids": ids} for one in answer.tool_calls or ()))


@breaks("server-files-are-streamed", cells=CHAT_STREAM)
class StreamsTwoFilesOfACall(ServerLoop):
    """Streams at most two files of a call."""

    def files_of(self, record: Record) -> list[Event]:
        return super().files_of(record)[:2]


@breaks(
    "server-files-stand-in-the-plain-reply",
    collateral={"server-messages-carry-files": "Messages replies get their files from the same list"},
)
class RepliesWithTwoFilesOfACall(AnsweringLoop):
    """Returns at most two files of a round in a plain reply."""

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, files=tuple(file for file in answer.files if not file["id"].endswith("_2")))


@breaks("server-messages-carry-files", cells=MESSAGES)
class MessagesWithoutFiles(AnsweringLoop):
    """Omits files from plain Messages replies, which it recognizes by max_tokens."""

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, files=()) if "max_tokens" in self.request.options else answer


@breaks("server-files-come-before-complete", cells=CHAT_STREAM)
class CompleteBeforeItsFiles(ServerLoop):
    """Sends `complete` before the files of its call."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return sorted(super().events_after(record), key=lambda event: isinstance(event, FileProduced))


@dataclass(frozen=True, slots=True)
class Roundless(Origin):
    """An origin whose file ids do not contain the round."""

    @property
    def file_id(self) -> str:
        return f"file_{self.run_id[:12]}_{self.round}_{self.index}"


@breaks("server-file-ids-hold-their-round")
class IdsWithoutTheirRound(ServerLoop):
    """Creates file ids without the round."""

    def _origin(self, tool: str, round_: int) -> Any:
        origin = super()._origin(tool, round_)
        return Roundless(origin.run_id, origin.tool, origin.round, origin.index, origin.turn)


@breaks("server-large-files-are-fetched-not-inlined")
class LargeFilesAreInlined(FilingLoop):
    """Inlines every text in its reply, however large."""

    def body(self, original: Json, data: bytes, record: Record) -> Json:
        return original if "data_base64" in original else {**original, "text": data.decode()}
