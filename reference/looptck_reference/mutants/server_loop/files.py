"""Files of a run: which are captured, what is told of them, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from looptck_reference.mutants.mutant import CHAT_STREAM, MESSAGES, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.events import Event, FileProduced
from looptck_reference.server.files import Origin
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Config, Simulator
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Answer, Record
from looptck_reference.values import Json, Turn


class FilingLoop(AgentLoop):
    """A loop that bends what is told of the files of a call."""

    def files_of(self, record: Record) -> list[Event]:
        known = len(self.files)
        super().files_of(record)
        self.files[known:] = [replace(one, file=self.body(one.file, one.data, record)) for one in self.files[known:]]
        return [*self.files[known:]]

    def body(self, told: Json, data: bytes, record: Record) -> Json:
        """What is told in place of this."""
        return told


class AnsweringLoop(AgentLoop):
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


class SizeInCharacters(ServerMutant):
    """Counts the characters of a text: `server-files-are-typed`."""

    breaks = ("server-files-are-typed",)

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(FilingLoop):  # noqa: N801  the simulator's attribute
            def body(self, told: Json, data: bytes, record: Record) -> Json:
                return {**told, "bytes": len(told["text"])} if "text" in told else told


class FilesOfNoTool(ServerMutant):
    """Says of a file that Python made it, whatever the tool is called: `server-files-are-typed`."""

    breaks = ("server-files-are-typed",)
    also = because("tool and round stand side by side", "server-files-name-their-round")

    class simulator(Simulator):  # noqa: N801
        class loop(FilingLoop):  # noqa: N801
            def body(self, told: Json, data: bytes, record: Record) -> Json:
                return {**told, "source": {**told["source"], "tool": "python"}}


class DeclaredIsNotListed(ServerMutant):
    """Captures no declared file that its call does not list: `server-declared-files-are-captured`."""

    breaks = ("server-declared-files-are-captured",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def files_of(self, record: Record) -> list[Event]:
                left = {*self.declared} - {*_outputs(record)}
                kept = tuple(file for file in record.result.produced if file.name not in left)
                return super().files_of(replace(record, result=replace(record.result, produced=kept)))


class ListedOnOneLine(ServerMutant):
    """Loses the line ends of a text that is listed: `server-listed-outputs-are-captured`."""

    breaks = ("server-listed-outputs-are-captured",)

    class simulator(Simulator):  # noqa: N801
        class loop(FilingLoop):  # noqa: N801
            def body(self, told: Json, data: bytes, record: Record) -> Json:
                listed = "text" in told and told["name"] in _outputs(record)
                return {**told, "text": told["text"].replace("\n", " ")} if listed else told


class NewFilesStay(ServerMutant):
    """Captures what was named and nothing else: `server-new-files-are-surfaced`."""

    breaks = ("server-new-files-are-surfaced",)

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, dialect=replace(config.dialect, captures="listed"))


class MissingFilesAreForgotten(ServerMutant):
    """Says nothing of a declared file that nobody wrote: `server-missing-declared-file-is-told`."""

    breaks = ("server-missing-declared-file-is-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def never_made(self) -> list[FileProduced]:
                return []


class MissingFilesAreEmpty(ServerMutant):
    """Tells of a declared file that nobody wrote as of an empty one: `server-missing-declared-file-is-told`."""

    breaks = ("server-missing-declared-file-is-told",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def never_made(self) -> list[FileProduced]:
                known = len(self.files)
                super().never_made()
                self.files[known:] = [replace(one, file=_empty(one.file)) for one in self.files[known:]]
                return self.files[known:]


class FilesOfTheNextRound(ServerMutant):
    """Attributes a file to the round behind its own: `server-files-name-their-round`."""

    breaks = ("server-files-name-their-round",)
    also = because(
        "a record finds its files, and an id is made, by the round",
        "server-records-list-their-files",
        "server-file-ids-hold-their-round",
        "server-plain-and-stream-record-alike",
    )

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def file_round(self) -> int:
                return self.round + 1


class RecordsListAllFiles(ServerMutant):
    """Lists in each record the files of the whole run: `server-records-list-their-files`."""

    breaks = ("server-records-list-their-files",)

    class simulator(Simulator):  # noqa: N801
        class loop(AnsweringLoop):  # noqa: N801
            def answer(self, answer: Answer) -> Answer:
                ids = [file["id"] for file in answer.files]
                return replace(answer, tool_calls=tuple({**one, "file_ids": ids} for one in answer.tool_calls or ()))


class StreamsTwoFilesOfACall(ServerMutant):
    """Streams no more than two files of a call: `server-files-are-streamed`."""

    breaks = ("server-files-are-streamed",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def files_of(self, record: Record) -> list[Event]:
                return super().files_of(record)[:2]


class RepliesWithTwoFilesOfACall(ServerMutant):
    """Has no more than two files of a round in a plain reply: `server-files-stand-in-the-plain-reply`."""

    breaks = ("server-files-stand-in-the-plain-reply",)
    also = because("a Messages reply has them from the same place", "server-messages-carry-files")

    class simulator(Simulator):  # noqa: N801
        class loop(AnsweringLoop):  # noqa: N801
            def answer(self, answer: Answer) -> Answer:
                return replace(answer, files=tuple(file for file in answer.files if not file["id"].endswith("_2")))


class MessagesWithoutFiles(ServerMutant):
    """Has no files in a plain Messages reply, whose request alone says max_tokens: `server-messages-carry-files`."""

    breaks = ("server-messages-carry-files",)
    cells = MESSAGES

    class simulator(Simulator):  # noqa: N801
        class loop(AnsweringLoop):  # noqa: N801
            def answer(self, answer: Answer) -> Answer:
                return replace(answer, files=()) if "max_tokens" in self.request.options else answer


class CompleteBeforeItsFiles(ServerMutant):
    """Sends `complete` before the files of its call: `server-files-come-before-complete`."""

    breaks = ("server-files-come-before-complete",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def told_after(self, record: Record) -> Sequence[Event]:
                return sorted(super().told_after(record), key=lambda event: isinstance(event, FileProduced))


@dataclass(frozen=True, slots=True)
class Roundless(Origin):
    """An origin whose id counts without the round."""

    @property
    def file_id(self) -> str:
        return f"file_{self.run_id[:12]}_{self.round}_{self.index}"


class IdsWithoutTheirRound(ServerMutant):
    """Makes ids without a mark of the round: `server-file-ids-hold-their-round`."""

    breaks = ("server-file-ids-hold-their-round",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _origin(self, tool: str, round_: int) -> Any:
                origin = super()._origin(tool, round_)
                return Roundless(origin.run_id, origin.tool, origin.round, origin.index, origin.turn)


class LargeFilesAreInlined(ServerMutant):
    """Has the body of every text in its reply: `server-large-files-are-fetched-not-inlined`."""

    breaks = ("server-large-files-are-fetched-not-inlined",)

    class simulator(Simulator):  # noqa: N801
        class loop(FilingLoop):  # noqa: N801
            def body(self, told: Json, data: bytes, record: Record) -> Json:
                return told if "data_base64" in told else {**told, "text": data.decode()}
