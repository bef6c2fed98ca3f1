"""Files: attribution to rounds, and the routes by which they are sent and fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from looptck_reference.server import DOCUMENT, Callback, Made, Produced
from looptck_reference.server.entry import CODE_TOOL
from looptck_reference.server.files import ELIDED_ABOVE, FILES_PER_RUN
from meta.reference.server.hand_clock import HandClock
from meta.reference.server.serving import WEATHER, World, call, turn

DRAW = Callback("draw", lambda name="a.txt": Made("drawn", (Produced(name, b"abc"),)))
ALICE, BOB = ({"authorization": f"Bearer {name}"} for name in ("alice", "bob"))


def test_a_file_is_attributed_to_the_round_that_made_it(world: Callable[..., World]) -> None:
    """In its id, its source, and in the entry of the call; the turn is the user's."""
    here = world(
        turn(None, call("weather")), turn(None, call("draw")), turn(None, call("draw")), turn("."), callbacks=(DRAW,)
    )

    body = here.chat(tools=[WEATHER]).json()

    assert [("draw", 1, 0), ("draw", 2, 0)] == [tuple(one["source"].values()) for one in body["files"]]
    assert [[], [body["files"][0]["id"]], [body["files"][1]["id"]]] == [
        one["file_ids"] for one in body["agentic_tool_calls"]
    ]
    assert ["_r1_0", "_r2_0"] == [one["id"][-5:] for one in body["files"]]


def test_a_large_file_is_told_without_its_content(world: Callable[..., World]) -> None:
    """It is to be had by its id."""
    large = Callback("draw", lambda: Made("", (Produced("a.bin", b"x" * (ELIDED_ABOVE + 1)),)))
    here = world(turn(None, call("draw")), turn("."), callbacks=(large,))

    (file,) = here.chat().json()["files"]

    assert [ELIDED_ABOVE + 1] == [file[name] for name in ("bytes", "text", "data_base64", "code") if name in file]
    assert ELIDED_ABOVE + 1 == len(here.request("GET", f"/v1/files/{file['id']}/content").content)


def test_a_run_produces_a_bounded_number_of_files(world: Callable[..., World]) -> None:
    """The model is told of each that is left out."""
    many = Callback("draw", lambda: Made("", tuple(Produced(f"{n}.txt", b"") for n in range(FILES_PER_RUN + 1))))
    here = world(turn(None, call("draw")), turn("."), callbacks=(many,))

    body = here.chat().json()

    assert FILES_PER_RUN == len(body["files"])
    assert "- 64.txt was not kept: too many files" == here.outside.histories[1][-1]["content"].splitlines()[-1]


def test_produced_files_can_be_fetched(world: Callable[..., World]) -> None:
    """By their client."""
    here = world(turn(None, call("draw")), turn("."), callbacks=(DRAW,))
    (file,) = here.chat(headers=ALICE).json()["files"]

    fetched = here.request("GET", f"/v1/files/{file['id']}", headers=ALICE)
    content = here.request("GET", f"/v1/files/{file['id']}/content", headers=ALICE)

    assert (file, b"abc", "nosniff") == (fetched.json(), content.content, content.headers["x-content-type-options"])


def test_files_are_their_client_s(world: Callable[..., World]) -> None:
    """To another they do not exist."""
    here = world(turn(None, call("draw")), turn("."), callbacks=(DRAW,))
    (file,) = here.chat(headers=ALICE).json()["files"]

    paths = [f"/v1/files/{file['id']}", f"/v1/files/{file['id']}/content"]

    assert [404, 404] == [here.request("GET", path, headers=BOB).status_code for path in paths]
    assert [[], [file["id"]]] == [
        [one["id"] for one in here.request("GET", "/v1/files", headers=who).json()["data"]] for who in (BOB, ALICE)
    ]


@pytest.mark.parametrize("told", [lambda file_id: file_id, lambda file_id: {"id": file_id}], ids=["id", "object"])
def test_an_uploaded_file_can_be_read_by_a_program(world: Callable[..., World], told: Callable[[str], Any]) -> None:
    """Named by its id."""
    here = world(turn(None, call(CODE_TOOL, {"code": "print(open('in.txt').read())"})), turn("."), code=True)
    sent = here.request("POST", "/v1/files", files={"file": ("in.txt", b"hello")}, data={"purpose": "assistants"})

    body = here.chat(enable_code_execution=True, files=[told(sent.json()["id"])]).json()

    assert ("in.txt", 5, "assistants") == tuple(sent.json()[name] for name in ("filename", "bytes", "purpose"))
    assert "stdout: hello\n" == body["agentic_tool_calls"][0]["result_content"]


@pytest.mark.parametrize(
    ("file", "status", "param"),
    [
        ("file_unknown", 404, "files[0]"),
        ({"name": "../a", "text": "a"}, 422, "files[0].name"),
        ({"name": "a/b", "text": "a"}, 422, "files[0].name"),
        ({"name": "..", "text": "a"}, 422, "files[0].name"),
        ({"name": "a" * 256, "text": "a"}, 422, "files[0].name"),
        ({"name": 3, "text": "a"}, 422, "files[0].name"),
        ({"name": "a", "data_base64": "!"}, 422, "files[0]"),
        ({"name": "a", "data_base64": 3}, 422, "files[0]"),
    ],
)
def test_a_file_that_cannot_be_had_is_refused(world: Callable[..., World], file: Any, status: int, param: str) -> None:
    """The error says which."""
    response = world(code=True).chat(enable_code_execution=True, files=[file])

    assert (status, param) == (response.status_code, response.json()["error"]["param"])


def test_a_declared_file_is_captured(world: Callable[..., World]) -> None:
    """Although its program does not list it; another that is written beside it is not, where only those listed are."""
    code = "open('a.csv', 'w').write('1')\nopen('b.csv', 'w').write('2')"
    dialect = replace(DOCUMENT, captures="listed")
    here = world(turn(None, call(CODE_TOOL, {"code": code})), turn("."), code=True, dialect=dialect)

    body = here.chat(enable_code_execution=True, files=[{"name": "a.csv"}]).json()

    assert [("a.csv", "1")] == [(one["name"], one["text"]) for one in body["files"]]


@pytest.mark.parametrize("ran", [True, False])
def test_a_declared_file_that_nobody_wrote_is_told(world: Callable[..., World], ran: bool) -> None:
    """A code and a message are in place of its content."""
    rounds = [turn(None, call("weather")), turn(None, call(CODE_TOOL, {"code": ""}))] if ran else []
    here = world(*rounds, turn("."), code=True)

    (file,) = here.chat(enable_code_execution=True, files=[{"name": "a.csv"}]).json()["files"]

    assert ("a.csv", 0, "file_not_produced", "no tool has written a.csv") == tuple(
        file[name] for name in ("name", "bytes", "code", "message")
    )
    assert {"tool": CODE_TOOL, "round": 1 if ran else 0, "turn": 0} == file["source"]
    assert 422 == here.request("GET", f"/v1/files/{file['id']}/content").status_code


def test_files_are_forgotten(world: Callable[..., World]) -> None:
    """After half an hour in which nobody asked, or when there are too many."""
    clock = HandClock()
    here = world(clock=clock, limits={"files": 2})
    ids = [here.request("POST", "/v1/files", files={"file": (f"{n}.txt", b"x")}).json()["id"] for n in range(3)]

    kept = [one["id"] for one in here.request("GET", "/v1/files").json()["data"]]
    clock.advance(1800)

    assert (ids[1:], []) == (kept, here.request("GET", "/v1/files").json()["data"])


def test_an_upload_without_a_file_is_refused(world: Callable[..., World]) -> None:
    """The error names the member."""
    response = world().request("POST", "/v1/files", files={"other": ("a.txt", b"abc")})

    assert (422, "file") == (response.status_code, response.json()["error"]["param"])


def test_the_files_of_a_request_are_bounded_together(world: Callable[..., World]) -> None:
    """An uploaded file counts each time that it is named."""
    here = world(limits={"request_files": 1000}, code=True)
    uploaded = here.request("POST", "/v1/files", files={"file": ("a.txt", b"x" * 400)}).json()["id"]

    statuses = [here.chat(enable_code_execution=True, files=[uploaded] * times).status_code for times in (2, 3)]

    assert 413 == statuses[1]
    assert 413 != statuses[0]
