"""Server-side loops: files outside of the working directory are not handed out."""

from __future__ import annotations

import base64
import secrets
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.checks import requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import Coder, file_names
from looptck.values.jsontext import parsed
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotReached

TABLE = "city,°C\nŁódź,5\n".encode()
TO_THE_ROOT = "../" * 40


@contextmanager
def _outside() -> Generator[Path, None, None]:
    """A file that looptck has written, with a content that is nowhere else."""
    with tempfile.TemporaryDirectory(prefix="looptck-outside-") as folder:
        path = Path(folder).resolve() / f"{secrets.token_hex(8)}.txt"
        path.write_text(secrets.token_hex(24), encoding="ascii")
        yield path


@requirement("server-files-stay-in-the-working-directory")
@pytest.mark.parametrize("above", [False, True], ids=["absolute", "above"])
@pytest.mark.parametrize("declared", [False, True], ids=["outputs", "request"])
def test_file_outside(scenario: Scenario, server: ServerUnderTest, declared: bool, above: bool) -> None:
    """A call, or the request, names a file of looptck: its content is in no reply, event, model request or file."""
    coder = Coder.of(server)
    with _outside() as path:
        name = f"{TO_THE_ROOT}{path.relative_to(path.anchor)}" if above else str(path)
        names = coder.call("print('nothing')", outputs=() if declared else (name,))
        scenario.plays(calls(coder.writes(("a.csv", TABLE))), calls(names), says("Done."))

        run = coder.ask(*(["a.csv", name] if declared else []))

        secret = path.read_bytes()
        shown = [run.got.raw, *(received.raw for received in run.received)]
        assert not _holds(shown, secret), f"a file of looptck is in the reply or in a model request: {name}"
        if declared and not run.got.ok:
            return
        contents = [coder.content(file) for file in run.got.files]
        assert not _holds(contents, secret), f"a file of looptck was handed out as a file of the reply: {name}"
        assert not _holds(_listed(server, path.name), secret), f"a file of looptck is under /v1/files: {name}"
        if TABLE not in contents:
            raise NotReached(f"control: a file of the working directory was not handed out: {file_names(run)}")


def _holds(shown: Any, secret: bytes) -> bool:
    """Whether some bytes have the secret, as it is or in base64."""
    return any(secret in one or base64.b64encode(secret) in one for one in shown)


def _listed(server: ServerUnderTest, name: str) -> list[bytes]:
    """The contents of the listed files that have a name with this end."""
    with server.http() as client:
        listed = parsed(client.get("/v1/files").content)
        data = listed.get("data") if isinstance(listed, dict) else None
        files = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
        named = [one for one in files if str(one.get("filename", one.get("name"))).endswith(name)]
        return [client.get(f"/v1/files/{one.get('id')}/content").content for one in named]
