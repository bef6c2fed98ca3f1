"""Server-side loops: files that are fetched, uploaded or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import BINARY, Coder, file_named
from looptck.values.jsontext import parsed
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotReached

if TYPE_CHECKING:
    import httpx

TEXT = "Łódź\n".encode()
INLINE = 8 * 1024 * 1024
"""Bytes of the largest file that is returned inline."""


@requirement("server-file-content-can-be-fetched")
def test_content(scenario: Scenario, server: ServerUnderTest) -> None:
    """The content of a binary file is returned byte for byte."""
    file = _made(scenario, server)

    with server.http() as client:
        got = client.get(f"/v1/files/{file['id']}/content")

    assert (200, BINARY) == (got.status_code, got.content)


@requirement("server-unknown-file-is-404")
def test_unknown_file(scenario: Scenario, server: ServerUnderTest) -> None:
    """The content of an unknown id is not found; that of a known id is."""
    file = _made(scenario, server) if server.can("code") else _sent(server)
    with server.http() as client:
        known = client.get(f"/v1/files/{file['id']}/content").status_code
        if known != 200:
            raise NotReached(f"control: the content of an existing file was answered with {known}")

        got = client.get(f"/v1/files/{_other(str(file['id']))}/content")

    assert 404 == got.status_code


@requirement("server-placeholder-has-no-content")
def test_content_of_a_placeholder(scenario: Scenario, server: ServerUnderTest) -> None:
    """The content of a declared file that was not written is refused with 422."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("print('nothing')")), says("Done."))
    found = [file for file in _files(coder, "a.csv") if file.get("code") and file.get("id")]
    if not found:
        raise NotReached("the reply has no placeholder for a declared file that was not written")

    with server.http() as client:
        got = client.get(f"/v1/files/{found[0]['id']}/content")

    assert 422 == got.status_code


@requirement("server-large-files-are-fetched-not-inlined")
def test_large_files(scenario: Scenario, server: ServerUnderTest) -> None:
    """A file of 8 MiB is returned inline; a file with one byte more is not, and has to be fetched."""
    coder = Coder.of(server)
    line = "with open({!r}, 'wb') as file: file.write(b'x' * {})"
    largest = coder.call(line.format("a.txt", INLINE), outputs=["a.txt"])
    larger = coder.call(line.format("b.txt", INLINE + 1), outputs=["b.txt"])
    scenario.plays(calls(largest), calls(larger), says("Done."))

    run = coder.ask()

    inlined, fetched = file_named(run, "a.txt"), file_named(run, "b.txt")
    if not _body(inlined):
        raise NotReached("control: a file of 8 MiB was not returned inline")
    assert not _body(fetched), f"a file of {INLINE + 1} bytes was returned inline"
    assert INLINE + 1 == fetched.get("bytes")
    assert b"x" * (INLINE + 1) == coder.content(fetched), "the fetched content is not the written content"


@requirement("server-uploaded-files-can-be-fetched")
@pytest.mark.parametrize(("name", "data"), [("a.txt", TEXT), ("a.bin", BINARY)], ids=["text", "binary"])
def test_upload(server: ServerUnderTest, name: str, data: bytes) -> None:
    """An uploaded file is in the list, and its description and its bytes can be fetched by its id."""
    sent = _sent(server, name, data)

    with server.http() as client:
        listed = _json(client.get("/v1/files"))
        described = _json(client.get(f"/v1/files/{sent['id']}"))
        got = client.get(f"/v1/files/{sent['id']}/content")

    files = listed["data"] if isinstance(listed.get("data"), list) else []
    found = [file for file in files if isinstance(file, dict) and file.get("id") == sent["id"]]
    assert 1 == len(found), f"{len(found)} files in the list have the id {sent['id']}"
    for one in (sent, found[0], described):
        facts = (one.get("filename", one.get("name")), one.get("purpose"), one.get("bytes"))
        assert (name, "user_data", len(data)) == facts
    assert 200 == got.status_code, f"the content of an uploaded file is answered with {got.status_code}"
    assert data == got.content, f"of {len(data)} uploaded bytes, {len(got.content)} are fetched, and they are others"


def _made(scenario: Scenario, server: ServerUnderTest) -> Any:
    """A file that a tool has made. Raises NotReached if there is none."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.writes(("a.bin", BINARY))), says("Done."))
    found = _files(coder)
    if not found or not found[0].get("id"):
        raise NotReached("the reply has no file with an id")
    return found[0]


def _files(coder: Coder, *declared: str) -> list[Any]:
    run = coder.ask(*declared)
    _ = run.got.turn
    return run.got.files


def _sent(server: ServerUnderTest, name: str = "a.txt", data: bytes = TEXT) -> Any:
    """An uploaded file. Raises NotReached if the upload was refused."""
    with server.http() as client:
        got = client.post("/v1/files", files={"file": (name, data)}, data={"purpose": "user_data"})
    described = parsed(got.content)
    if not got.is_success or not isinstance(described, dict) or not described.get("id"):
        raise NotReached(f"an upload was answered with {got.status_code}: {got.text[:300]}")
    return described


def _json(got: httpx.Response) -> Any:
    """The JSON object of a reply with status 200."""
    assert 200 == got.status_code, f"{got.url.path} was answered with {got.status_code}: {got.text[:300]}"
    body = parsed(got.content)
    assert isinstance(body, dict), f"{got.url.path} was answered with {got.text[:300]!r}"
    return body


def _other(id: str) -> str:
    """An unused id of the same form."""
    return f"{id[:-1]}{'7' if id[-1] != '7' else '8'}"


def _body(file: Any) -> bool:
    return bool(file.get("text") or file.get("data_base64"))
