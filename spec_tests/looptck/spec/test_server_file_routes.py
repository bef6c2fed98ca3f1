"""Server-side loops: files that are fetched, that are sent, and that are not there."""

from __future__ import annotations

from typing import Any

import httpx

from looptck.checks import requirement
from looptck.guest import Guest
from looptck.jsontext import parsed
from looptck.kit import Scene
from looptck.spec.built_in import Coder, named
from looptck.turns import calls, says
from looptck.verdicts import NotReached

BINARY = bytes(range(256)) * 3
TEXT = "Łódź\n".encode()
INLINE = 8 * 1024 * 1024
"""Bytes of the largest file that comes with its body."""


@requirement("server-file-content-can-be-fetched")
def test_content(provider: Scene, guest: Guest) -> None:
    """A binary file is fetched byte for byte."""
    file = _made(provider, guest)

    with guest.http() as client:
        got = client.get(f"/v1/files/{file['id']}/content")

    assert (200, BINARY) == (got.status_code, got.content)


@requirement("server-unknown-file-is-404")
def test_unknown_file(provider: Scene, guest: Guest) -> None:
    """The content of an id that nobody has made is not found; that of one that somebody has made is."""
    file = _made(provider, guest) if guest.can("code") else _sent(guest)
    with guest.http() as client:
        known = client.get(f"/v1/files/{file['id']}/content").status_code
        if known != 200:
            raise NotReached(f"control: the content of a file that there is was answered with {known}")

        got = client.get(f"/v1/files/{_other(str(file['id']))}/content")

    assert 404 == got.status_code


@requirement("server-placeholder-has-no-content")
def test_content_of_a_placeholder(provider: Scene, guest: Guest) -> None:
    """A declared file that nobody has written is refused with 422."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.call("print('nothing')")), says("Done."))
    found = [file for file in _files(coder, "a.csv") if file.get("code") and file.get("id")]
    if not found:
        raise NotReached("the reply has no placeholder for a declared file that was not written")

    with guest.http() as client:
        got = client.get(f"/v1/files/{found[0]['id']}/content")

    assert 422 == got.status_code


@requirement("server-large-files-are-fetched-not-inlined")
def test_large_files(provider: Scene, guest: Guest) -> None:
    """A file of 8 MiB comes with its body, one with a byte more does not, and is to be fetched."""
    coder = Coder.of(guest)
    line = "with open({!r}, 'wb') as file: file.write(b'x' * {})"
    largest = coder.call(line.format("a.txt", INLINE), outputs=["a.txt"])
    larger = coder.call(line.format("b.txt", INLINE + 1), outputs=["b.txt"])
    provider.plays(calls(largest), calls(larger), says("Done."))

    run = coder.ask()

    inlined, fetched = named(run, "a.txt"), named(run, "b.txt")
    if not _body(inlined):
        raise NotReached("control: a file of 8 MiB came without its body")
    assert not _body(fetched), f"a file of {INLINE + 1} bytes came with its body"
    assert INLINE + 1 == fetched.get("bytes")
    assert b"x" * (INLINE + 1) == coder.content(fetched), "what was fetched is not what was written"


@requirement("server-uploaded-files-can-be-fetched")
def test_upload(guest: Guest) -> None:
    """A file that was sent is in the list, and is fetched by its id, what is told of it and its bytes."""
    sent = _sent(guest)

    with guest.http() as client:
        listed = _json(client.get("/v1/files"))
        told = _json(client.get(f"/v1/files/{sent['id']}"))
        got = client.get(f"/v1/files/{sent['id']}/content")

    files = listed["data"] if isinstance(listed.get("data"), list) else []
    found = [file for file in files if isinstance(file, dict) and file.get("id") == sent["id"]]
    assert 1 == len(found), f"{len(found)} files of the list have the id {sent['id']}"
    for one in (sent, found[0], told):
        facts = (one.get("filename", one.get("name")), one.get("purpose"), one.get("bytes"))
        assert ("a.txt", "user_data", len(TEXT)) == facts
    assert (200, TEXT) == (got.status_code, got.content)


def _made(provider: Scene, guest: Guest) -> Any:
    """A file that a tool has made. Raises NotReached where there is none."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.writes(("a.bin", BINARY))), says("Done."))
    found = _files(coder)
    if not found or not found[0].get("id"):
        raise NotReached("the reply has no file with an id")
    return found[0]


def _files(coder: Coder, *declared: str) -> list[Any]:
    run = coder.ask(*declared)
    _ = run.got.turn
    return run.got.files


def _sent(guest: Guest) -> Any:
    """A file that the client has sent. Raises NotReached where it was not taken."""
    with guest.http() as client:
        got = client.post("/v1/files", files={"file": ("a.txt", TEXT, "text/plain")}, data={"purpose": "user_data"})
    told = parsed(got.content)
    if not got.is_success or not isinstance(told, dict) or not told.get("id"):
        raise NotReached(f"an upload was answered with {got.status_code}: {got.text[:300]}")
    return told


def _json(got: httpx.Response) -> Any:
    """The JSON object that was answered with 200."""
    assert 200 == got.status_code, f"{got.url.path} was answered with {got.status_code}: {got.text[:300]}"
    body = parsed(got.content)
    assert isinstance(body, dict), f"{got.url.path} was answered with {got.text[:300]!r}"
    return body


def _other(id: str) -> str:
    """An id of the same form that nobody has."""
    return f"{id[:-1]}{'7' if id[-1] != '7' else '8'}"


def _body(file: Any) -> bool:
    return bool(file.get("text") or file.get("data_base64"))
