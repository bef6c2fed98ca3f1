"""Server-side loops: files that tools make, and how they are reported to the client."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.client.schemas import faults
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import BINARY, Coder, file_named, file_names, origin
from looptck.spec.server_loop.replies import NO_END
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

TABLE = "city,°C\nŁódź,5\n".encode()
MORE = b"1,2\n3,4\n"
PING = Call.of("ping")


@requirement("server-files-are-typed")
def test_type_of_a_file(scenario: Scenario, server: ServerUnderTest) -> None:
    """A file has an id, its name, a type, its size in bytes, and the tool that made it."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.writes(("a.csv", TABLE))), says("Done."))

    file = file_named(coder.ask(), "a.csv")

    assert [] == faults("file", file)
    size = file.get("bytes")
    assert len(TABLE) == size, f"a.csv has {len(TABLE)} bytes, and its file says {size}"
    assert "csv" in f"{file.get('format')} {file.get('mime_type')}", (
        f"neither format nor mime_type says that a.csv is CSV: {plain(_bare(file))}"
    )
    assert coder.tool == origin(file)[1]


@requirement("server-declared-files-are-captured")
def test_declared_file(scenario: Scenario, server: ServerUnderTest) -> None:
    """A file that the request declares, and the program writes without listing it, is returned with its content."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.writes(("a.csv", TABLE), listed=False)), says("Done."))

    file = file_named(coder.ask("a.csv"), "a.csv")

    assert TABLE == coder.content(file)


@requirement("server-listed-outputs-are-captured")
@pytest.mark.parametrize(("name", "data"), [("a.csv", TABLE), ("a.bin", BINARY)], ids=["text", "binary"])
def test_listed_output(scenario: Scenario, server: ServerUnderTest, name: str, data: bytes) -> None:
    """A text or binary file that the call lists in its outputs is returned with its content."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.writes((name, data))), says("Done."))

    file = file_named(coder.ask(), name)

    got = coder.content(file)
    member = next((member for member in ("text", "data_base64") if isinstance(file.get(member), str)), "content")
    assert data == got, f"{name} has {len(data)} bytes, and the {len(got)} in its {member} are others"


@requirement("server-new-files-are-surfaced")
def test_new_file(scenario: Scenario, server: ServerUnderTest) -> None:
    """Files of two rounds are returned even if neither request nor calls name them.

    The page of May 2026 has only files captured that are declared or listed, so a server may return none of these.
    """
    coder = Coder.of(server)
    scenario.plays(
        *(calls(coder.writes(file, listed=False)) for file in (("a.csv", TABLE), ("b.csv", MORE))), says("Done.")
    )

    run = coder.ask()

    names = file_names(run)
    server.implementation.diverges("undeclared_files", "surfaced" if names else "kept-in-the-session")
    if not names and _captures_what_is_listed(scenario, coder):
        raise NotApplicable("files that are neither declared nor listed are not captured, as the first document says")
    assert TABLE == coder.content(file_named(run, "a.csv"))
    assert MORE == coder.content(file_named(run, "b.csv"))


def _captures_what_is_listed(scenario: Scenario, coder: Coder) -> bool:
    scenario.plays(calls(coder.writes(("a.csv", TABLE))), says("Done."))
    return file_names(coder.ask()) == ["a.csv"]


@requirement("server-missing-declared-file-is-told")
def test_missing_file(scenario: Scenario, server: ServerUnderTest) -> None:
    """A file that the request declares, and no program writes, has a code and a message instead of content."""
    coder = Coder.of(server)
    if not _captures_what_is_listed(scenario, coder):
        raise NotReached("control: a file that a program writes and its call lists is not in the reply")
    scenario.plays(calls(coder.call("print('nothing')")), says("Done."))

    run = coder.ask("a.csv")

    assert "a.csv" in file_names(run), "the request declares a.csv, no tool wrote it, and the reply does not mention it"
    file = file_named(run, "a.csv")
    assert [] == [name for name in ("text", "data_base64") if file.get(name) is not None]
    assert file.get("code"), f"the file has no error code: {plain(_bare(file))}"
    assert file.get("message"), f"the file has no error message: {plain(_bare(file))}"


@requirement("server-missing-declared-file-is-told")
def test_missing_output(scenario: Scenario, server: ServerUnderTest) -> None:
    """A file that a call lists in its outputs, and its program does not write, does not end the run."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("print('nothing')")), says("Done."))
    if not (control := coder.ask()).got.ok:
        raise NotReached(f"control: a program without outputs should run; the client got {control.got}")
    scenario.plays(calls(coder.call("print('nothing')", outputs=["a.csv"])), says("Done."))

    run = coder.ask()

    assert run.got.ok, f"the call lists a.csv, its program does not write it, and the client got {run.got}"
    assert "Done." == run.got.text
    found = [file for file in run.got.files if file.get("name") == "a.csv"]
    server.implementation.diverges("missing_outputs", "placeholder" if found else "left-out")


@requirement("server-files-name-their-round")
def test_rounds_of_files(scenario: Scenario, server: ServerUnderTest) -> None:
    """Files made in the second and third round name their round and tool."""
    coder = Coder.of(server)
    scenario.plays(*_rounds(coder))

    run = coder.ask()

    assert [(1, coder.tool), (2, coder.tool)] == [origin(file_named(run, name)) for name in ("a.csv", "b.csv")]


@requirement("server-records-list-their-files")
def test_files_of_records(scenario: Scenario, server: ServerUnderTest) -> None:
    """Of three rounds, the first record has no file, and each of the others has its own."""
    coder = Coder.of(server)
    scenario.plays(*_rounds(coder))

    run = coder.ask()

    wanted = [[], [file_named(run, "a.csv").get("id")], [file_named(run, "b.csv").get("id")]]
    assert wanted == [record.get("file_ids") or [] for record in run.got.records]
    always = all("file_ids" in record for record in run.got.records)
    server.implementation.diverges("record_file_ids", "always" if always else "only-when-there-are-any")


@requirement("server-files-are-streamed")
def test_events_of_files(scenario: Scenario, server: ServerUnderTest) -> None:
    """Three files of one round and one of the next each have an event before the end of the stream."""
    coder = Coder.of(server)
    scenario.plays(*_four(coder))

    run = coder.ask()

    assert run.got.ended, NO_END
    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(file_names(run))


@requirement("server-files-stand-in-the-plain-reply")
def test_files_of_a_plain_reply(scenario: Scenario, server: ServerUnderTest) -> None:
    """The files of two rounds, three and one, are listed in files; without files the list is empty or missing."""
    coder = Coder.of(server)
    _none(scenario, coder)
    scenario.plays(*_four(coder))

    run = coder.ask()

    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(file_names(run))


@requirement("server-messages-carry-files")
def test_files_of_a_plain_message(scenario: Scenario, server: ServerUnderTest) -> None:
    """The files of two rounds are listed as on Chat Completions."""
    coder = Coder.of(server, server.implementation.cell.wire)
    _none(scenario, coder)
    scenario.plays(*_four(coder))

    run = coder.ask()

    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(file_names(run))


@requirement("server-files-come-before-complete")
def test_order_of_events(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event of each round's file comes between calling and complete of that round."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.writes(("a.csv", TABLE))), calls(coder.writes(("b.csv", MORE))), says("Done."))

    run = coder.ask()

    assert run.got.ended, NO_END
    assert {"a.csv", "b.csv"} == {*file_names(run)}
    assert ["calling", "a.csv", "complete", "calling", "b.csv", "complete"] == _order(run)


@requirement("server-file-ids-hold-their-round")
def test_ids_of_files(scenario: Scenario, server: ServerUnderTest) -> None:
    """The ids of files of two rounds name the same run, the file's round, and a different number."""
    coder = Coder.of(server)
    scenario.plays(*_three(coder))

    run = coder.ask()

    ids = [str(file_named(run, name).get("id")) for name in ("a.csv", "b.csv", "c.csv")]
    made_by, _, last = ids[0].rpartition("_r")
    numbers = {last.partition("_")[2], ids[1].rpartition("_")[2]}
    assert made_by.startswith("file_"), f"{plain(ids)} are not of the form file_RUN_rROUND_NUMBER"
    assert 2 == len(numbers), f"the files of the first round have the same number: {plain(ids)}"
    wanted = [f"{made_by}_r0_{ids[0].rpartition('_')[2]}", f"{made_by}_r0_{ids[1].rpartition('_')[2]}"]
    assert [*wanted, f"{made_by}_r1_{ids[2].rpartition('_')[2]}"] == ids


def _rounds(coder: Coder) -> list[Any]:
    """A round without files, followed by two rounds with one file each."""
    return [
        calls(PING),
        calls(coder.writes(("a.csv", TABLE))),
        calls(coder.writes(("b.csv", MORE))),
        says("Done."),
    ]


def _three(coder: Coder) -> list[Any]:
    """A round that makes two files, and one that makes a third."""
    return [
        calls(coder.writes(("a.csv", TABLE), ("b.csv", MORE))),
        calls(coder.writes(("c.csv", MORE))),
        says("Done."),
    ]


def _four(coder: Coder) -> list[Any]:
    """A round that makes three files, and one that makes a fourth."""
    return [
        calls(coder.writes(("a.csv", TABLE), ("b.csv", MORE), ("c.csv", MORE))),
        calls(coder.writes(("d.csv", MORE))),
        says("Done."),
    ]


def _none(scenario: Scenario, coder: Coder) -> None:
    """The control: a program that writes no file leads to no file. Raises NotReached otherwise."""
    scenario.plays(calls(coder.call("print('nothing')")), says("Done."))
    found = file_names(coder.ask())
    if found:
        raise NotReached(f"control: a program that writes nothing made the files {found}")


def _order(run: Run) -> list[Any]:
    """Phases and names of files, in the order of the stream."""
    phases = {progress.at: progress.phase for progress in run.got.progress}
    files = {at: event.value.get("name") for at, event in enumerate(run.got.events) if event.value in run.got.files}
    return [reported for _, reported in sorted({**phases, **files}.items())]


def _bare(file: Any) -> dict[str, Any]:
    return {name: value for name, value in file.items() if name not in {"text", "preview", "data_base64"}}
