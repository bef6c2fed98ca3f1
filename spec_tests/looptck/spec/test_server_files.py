"""Server-side loops: the files that tools make, which of them a client is told of, and as what."""

from __future__ import annotations

from typing import Any

from looptck.checks import requirement
from looptck.client.schemas import faults
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec.built_in import Coder, named, names, origin
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

TABLE = "city,°C\nŁódź,5\n".encode()
MORE = b"1,2\n3,4\n"
PING = Call.of("ping")


@requirement("server-files-are-typed")
def test_type_of_a_file(provider: Scene, guest: Guest) -> None:
    """A file has an id, its name, a word for its type, its size in bytes, and the tool that made it."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.csv", TABLE))), says("Done."))

    file = named(coder.ask(), "a.csv")

    assert [] == faults("file", file)
    assert len(TABLE) == file.get("bytes")
    assert "csv" in f"{file.get('format')} {file.get('mime_type')}", (
        f"nothing says that it is a CSV file: {_bare(file)}"
    )
    assert coder.tool == origin(file)[1]


@requirement("server-declared-files-are-captured")
def test_declared_file(provider: Scene, guest: Guest) -> None:
    """A file that the request names, and the program writes without a word, comes with its content."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.csv", TABLE), listed=False)), says("Done."))

    file = named(coder.ask("a.csv"), "a.csv")

    assert TABLE == coder.content(file)


@requirement("server-listed-outputs-are-captured")
def test_listed_output(provider: Scene, guest: Guest) -> None:
    """A file that the call lists in its outputs comes with its content."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.csv", TABLE))), says("Done."))

    file = named(coder.ask(), "a.csv")

    assert TABLE == coder.content(file)


@requirement("server-new-files-are-surfaced")
def test_new_file(provider: Scene, guest: Guest) -> None:
    """A file that the program writes, and nobody has named, comes all the same."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.csv", TABLE), listed=False)), says("Done."))

    run = coder.ask()

    guest.implementation.diverges("undeclared_files", "surfaced" if names(run) else "kept-in-the-session")
    assert TABLE == coder.content(named(run, "a.csv"))


@requirement("server-missing-declared-file-is-told")
def test_missing_file(provider: Scene, guest: Guest) -> None:
    """A file that the request names, and nobody writes, comes with code and message and without a body."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.call("print('nothing')")), says("Done."))

    file = named(coder.ask("a.csv"), "a.csv")

    assert [] == [name for name in ("text", "data_base64") if file.get(name) is not None]
    assert file.get("code"), f"no code says why there is no body: {_bare(file)}"
    assert file.get("message"), f"no message says why there is no body: {_bare(file)}"


@requirement("server-files-name-their-round")
def test_rounds_of_files(provider: Scene, guest: Guest) -> None:
    """Files that were made in the second and in the third round say so, and by which tool."""
    coder = Coder.of(guest)
    provider.plays(*_rounds(coder))

    run = coder.ask()

    assert [(1, coder.tool), (2, coder.tool)] == [origin(named(run, name)) for name in ("a.csv", "b.csv")]


@requirement("server-records-list-their-files")
def test_files_of_records(provider: Scene, guest: Guest) -> None:
    """Of three rounds the first has no file, and each of the others its own."""
    coder = Coder.of(guest)
    provider.plays(*_rounds(coder))

    run = coder.ask()

    wanted = [[], [named(run, "a.csv").get("id")], [named(run, "b.csv").get("id")]]
    assert wanted == [record.get("file_ids") or [] for record in run.got.records]
    always = all("file_ids" in record for record in run.got.records)
    guest.implementation.diverges("record_file_ids", "always" if always else "only-when-there-are-any")


@requirement("server-files-are-streamed")
def test_events_of_files(provider: Scene, guest: Guest) -> None:
    """Three files of one round and one of the next have an event each before the stream has ended."""
    coder = Coder.of(guest)
    provider.plays(*_four(coder))

    run = coder.ask()

    assert run.got.ended
    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(names(run))


@requirement("server-files-stand-in-the-plain-reply")
def test_files_of_a_plain_reply(provider: Scene, guest: Guest) -> None:
    """Three files of one round and one of the next stand in files; a reply without files has none there."""
    coder = Coder.of(guest)
    _none(provider, coder)
    provider.plays(*_four(coder))

    run = coder.ask()

    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(names(run))


@requirement("server-messages-carry-files")
def test_files_of_a_plain_message(provider: Scene, guest: Guest) -> None:
    """As on Chat Completions."""
    coder = Coder.of(guest, guest.implementation.cell.wire)
    _none(provider, coder)
    provider.plays(*_four(coder))

    run = coder.ask()

    assert ["a.csv", "b.csv", "c.csv", "d.csv"] == sorted(names(run))


@requirement("server-files-come-before-complete")
def test_order_of_events(provider: Scene, guest: Guest) -> None:
    """The file of each of two rounds is told between calling and complete of that round."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.csv", TABLE))), calls(coder.writes(("b.csv", MORE))), says("Done."))

    run = coder.ask()

    assert run.got.ended
    assert {"a.csv", "b.csv"} == {*names(run)}
    assert ["calling", "a.csv", "complete", "calling", "b.csv", "complete"] == _order(run)


@requirement("server-file-ids-hold-their-round")
def test_ids_of_files(provider: Scene, guest: Guest) -> None:
    """Two files of the first round and one of the second: one run, their round, and a number of their own."""
    coder = Coder.of(guest)
    provider.plays(*_three(coder))

    run = coder.ask()

    ids = [str(named(run, name).get("id")) for name in ("a.csv", "b.csv", "c.csv")]
    made_by, _, last = ids[0].rpartition("_r")
    numbers = {last.partition("_")[2], ids[1].rpartition("_")[2]}
    assert made_by.startswith("file_"), f"the ids are {ids}"
    assert 2 == len(numbers), f"the files of the first round have one number: {ids}"
    wanted = [f"{made_by}_r0_{ids[0].rpartition('_')[2]}", f"{made_by}_r0_{ids[1].rpartition('_')[2]}"]
    assert [*wanted, f"{made_by}_r1_{ids[2].rpartition('_')[2]}"] == ids


def _rounds(coder: Coder) -> list[Any]:
    """A round that makes no file, and two that make one each."""
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


def _none(provider: Scene, coder: Coder) -> None:
    """The control: a program that writes no file leads to none. Raises NotReached."""
    provider.plays(calls(coder.call("print('nothing')")), says("Done."))
    found = names(coder.ask())
    if found:
        raise NotReached(f"control: a program that writes nothing made the files {found}")


def _order(run: Run) -> list[Any]:
    """Phases and names of files as the stream told them."""
    phases = {progress.at: progress.phase for progress in run.got.progress}
    files = {at: event.value.get("name") for at, event in enumerate(run.got.events) if event.value in run.got.files}
    return [told for _, told in sorted({**phases, **files}.items())]


def _bare(file: Any) -> dict[str, Any]:
    return {name: value for name, value in file.items() if name not in {"text", "preview", "data_base64"}}
