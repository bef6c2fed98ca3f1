"""``looptck record`` as a whole: what it writes, what it leaves alone, what it says and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from looptck.bench.cases import cases
from looptck.cassettes import read
from looptck.cassettes.cassette import CHUNKS
from looptck.cli.group import main
from looptck.commands.recording import record as recording
from looptck.commands.recording.record import CouldNotRecord, RecordOptions, record
from looptck.commands.recording.traffic_log import TrafficLog, traffic_log
from looptck.provider.http import HttpReply, HttpRequest
from looptck.values.turns import says
from looptck.wires import WIRES
from meta.recording.fake_upstream import Answer, FakeUpstream, playing, whole
from meta.recording.targets import said, shares, target


@pytest.fixture(autouse=True)
def one_call(monkeypatch: pytest.MonkeyPatch, log: TrafficLog) -> None:
    """One scenario, and no key of whoever runs the tests."""
    shares(monkeypatch, log)
    monkeypatch.delenv("LOOPTCK_API_KEY", raising=False)
    monkeypatch.setattr(recording, "cases", lambda: {"one-call": target().case})


def plays(fake_upstream: FakeUpstream) -> Answer:
    """Let the fake upstream play the scenario on all wires, anew where a request carries no results yet."""
    played: dict[str, Answer] = {}

    def answer(request: HttpRequest) -> HttpReply | None:
        wire = next(wire for wire in WIRES.values() if request.path == f"/v1{wire.route}")
        if b"call_1a" not in request.body:
            played[wire.name] = playing(cases()["one-call"], wire.name)
        return played[wire.name](request)

    fake_upstream.answer = answer
    return answer


def ran(fake_upstream: FakeUpstream, into: Path, **more: Any) -> tuple[int, list[str]]:
    """Status and lines of a recording."""
    lines: list[str] = []
    status = record(
        RecordOptions(fake_upstream.base_url, "looptck-model", into=into, timeout=20.0, **more), lines.append
    )
    return status, lines


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def first(served: FakeUpstream, log: TrafficLog, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with a recording on all wires, plain and streamed."""
    with pytest.MonkeyPatch.context() as patch:
        shares(patch, log)
        patch.setattr(recording, "cases", lambda: {"one-call": target().case})
        plays(served)
        folder = tmp_path_factory.mktemp("first")
        status, lines = ran(served, folder)
    assert 0 == status, lines
    return folder, lines


def test_all_of_it(first: tuple[Path, list[str]]) -> None:
    """Each wire is recorded plain and streamed, a line for each, and every file is a cassette."""
    folder, lines = first

    assert {f"{wire}/one-call-{mode}.yaml" for wire in WIRES for mode in ("plain", "stream", f"stream{CHUNKS}")} == set(
        files(folder)
    )
    assert "6 written" == lines[-1]
    assert ["openai-chat/one-call-plain", "written:", "2", "requests"] == lines[0].split()
    for path in folder.glob("*/*.yaml"):
        if CHUNKS not in path.name:
            assert 2 == len(read(path).exchanges)


def test_provenance(first: tuple[Path, list[str]]) -> None:
    """A cassette says where it comes from, and what was taken out of it."""
    about = read(first[0] / "anthropic-messages" / "one-call-stream.yaml").provenance

    assert ("a server of one's own", "looptck-model", "") == (about.upstream, about.model, about.dialect)
    assert about.client.startswith("the anthropic SDK ")
    assert " with vcrpy " in about.recorder
    assert target().case.fingerprint == about.scenario
    assert any(line.startswith("request headers: all but ") for line in about.redactions)


def test_the_same_again(first: tuple[Path, list[str]], fake_upstream: FakeUpstream) -> None:
    """What says the same as before leaves the files alone, asked or not."""
    folder, _ = first
    before = files(folder)

    for update in (False, True):
        plays(fake_upstream)
        status, lines = ran(fake_upstream, folder, update=update)

        assert (0, "6 unchanged") == (status, lines[-1])
        assert before == files(folder)


@pytest.fixture
def other(first: tuple[Path, list[str]], fake_upstream: FakeUpstream, tmp_path: Path) -> Path:
    """A folder with one recording, and a fake upstream that says something else."""
    path = tmp_path / "openai-chat" / "one-call-plain.yaml"
    path.parent.mkdir()
    path.write_bytes((first[0] / "openai-chat" / "one-call-plain.yaml").read_bytes())
    body = said("openai-chat", says("No."), streams=False).parts[0]
    assert isinstance(body, bytes)
    fake_upstream.replies(
        whole(200, body.partition(b"\r\n\r\n")[2].replace(b'"choices"', b'"mood": "blue", "choices"'))
    )
    return path


def test_not_overwritten_unasked(other: Path, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """Another recording than the one that is there is refused, and the difference in shape is shown."""
    before = other.read_bytes()

    status, lines = ran(fake_upstream, tmp_path, wires=["openai-chat"], mode="plain")

    assert 1 == status
    assert lines[0].startswith(
        "openai-chat/one-call-plain  differs: from the old recording, which --update would overwrite"
    )
    assert "/mood" in lines[0]
    assert before == other.read_bytes()
    assert ["openai-chat/one-call-plain.yaml"] == list(files(tmp_path))


def test_overwritten(other: Path, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """An update overwrites it, shows the difference too, and says that the model did not keep to the script."""
    status, lines = ran(fake_upstream, tmp_path, wires=["openai-chat"], mode="plain", update=True)

    assert 0 == status
    assert lines[0].startswith("openai-chat/one-call-plain  updated: 1 request, not what the script says")
    assert "/mood" in lines[0]
    assert 1 == len(read(other).exchanges)


def test_what_is_there_is_no_cassette(other: Path, fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """A file that cannot be read is left alone too, unless it is to be updated."""
    other.write_text("version: 1\n", encoding="utf-8")

    status, lines = ran(fake_upstream, tmp_path, wires=["openai-chat"], mode="plain")

    assert 1 == status
    assert "the old recording cannot be played" in lines[0]
    assert "version: 1\n" == other.read_text(encoding="utf-8")
    assert 0 == ran(fake_upstream, tmp_path, wires=["openai-chat"], mode="plain", update=True)[0]
    assert 1 == len(read(other).exchanges)


def test_one_fails_and_the_others_are_written(fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """A recording that comes to nothing leaves no file and does not end the others."""
    answer = plays(fake_upstream)
    fake_upstream.answer = lambda request: whole(404, b"{}") if request.path == "/v1/messages" else answer(request)

    status, lines = ran(fake_upstream, tmp_path, mode="plain")

    assert 1 == status
    assert ["openai-chat", "openai-responses"] == sorted(path.name for path in tmp_path.iterdir())
    assert "anthropic-messages/one-call-plain  failed: reply 1 is 404: {}" in lines
    assert "2 written · 1 failed" == lines[-1]


def test_what_a_wire_cannot_say_is_skipped(
    fake_upstream: FakeUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scenario that the wire has no words for is skipped with the reason."""
    monkeypatch.setattr(recording, "cases", lambda: {"stop-sequence": cases()["stop-sequence"]})

    status, lines = ran(fake_upstream, tmp_path, wires=["openai-responses"], mode="plain")

    assert 0 == status
    assert lines[0].startswith("openai-responses/stop-sequence-plain  skipped: openai-responses cannot express turn 1")
    assert [] == fake_upstream.seen


def test_unknown_scenario(fake_upstream: FakeUpstream) -> None:
    """A scenario that is none is refused before anything is asked, with those that are like it."""
    with pytest.raises(CouldNotRecord, match="one-call"):
        ran(fake_upstream, Path("nowhere"), scenarios=["one-cal"])


def test_unknown_dialect(fake_upstream: FakeUpstream, tmp_path: Path) -> None:
    """A dialect without a file is refused."""
    with pytest.raises(CouldNotRecord, match="martian"):
        ran(fake_upstream, tmp_path, dialect="martian")


def test_nothing_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wire that the upstream does not speak leaves nothing to record, which is not a success."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-theirs")

    with pytest.raises(CouldNotRecord, match="nothing is left to record"):
        record(RecordOptions("anthropic", "m", wires=["openai-chat"], into=tmp_path), print)


def test_outside_of_a_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no project to add to, the folder has to be named."""
    monkeypatch.setattr(recording, "cassette", lambda _: tmp_path / "cassettes")

    with pytest.raises(CouldNotRecord, match="--into is missing"):
        record(RecordOptions("http://127.0.0.1:1/v1", "m"), print)


def test_command(fake_upstream: FakeUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command records with a proxy of its own, says so, and its exit status is the recording's."""
    monkeypatch.setattr(recording, "traffic_log", traffic_log)
    plays(fake_upstream)
    words = ["record", "--upstream", fake_upstream.base_url, "--model", "m", "--name", "my server", "--mode", "plain"]

    done = CliRunner().invoke(main, [*words, "--into", str(tmp_path), "--wire", "openai-chat"])

    assert (0, "1 written") == (done.exit_code, done.output.splitlines()[-1])
    assert "my server" == read(tmp_path / "openai-chat" / "one-call-plain.yaml").provenance.upstream


def test_command_knows_all_wires() -> None:
    """The command line, which starts without the wires, names them all."""
    (option,) = (one for one in main.commands["record"].params if one.name == "wires")

    assert list(WIRES) == list(option.type.choices)  # type: ignore[attr-defined]


def test_command_could_not_run() -> None:
    """The reason why nothing can be recorded is printed on one line, with exit status 2."""
    done = CliRunner().invoke(main, ["record", "--upstream", "mars", "--model", "m", "--into", "nowhere"])

    assert 2 == done.exit_code
    assert done.output.startswith("Error: --upstream mars: must be openai")
