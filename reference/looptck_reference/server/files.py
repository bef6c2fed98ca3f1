"""Files: their descriptions for clients, and the store of their contents."""

from __future__ import annotations

import base64
import mimetypes
from dataclasses import dataclass
from pathlib import PurePosixPath

from looptck_reference.server.bounded import Shelf
from looptck_reference.server.values import Produced
from looptck_reference.vocabulary.values import Json

__all__ = [
    "ELIDED_ABOVE",
    "FILES_PER_RUN",
    "Files",
    "Origin",
    "StoredFile",
    "missing_body",
    "produced_body",
    "uploaded_body",
]

ELIDED_ABOVE = 8 * 1024 * 1024
"""Bytes; the content of a larger file is only available at `/v1/files/{id}/content`."""
FILES_PER_RUN = 64
PREVIEW = 200
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that can be fetched; `body` is its description."""

    body: Json
    data: bytes

    @property
    def id(self) -> str:
        """The id in the body."""
        return str(self.body["id"])

    @property
    def name(self) -> str:
        """The name in the body."""
        return str(self.body["name"])

    @property
    def listing(self) -> Json:
        """The body without the content."""
        return {name: value for name, value in self.body.items() if name not in {"text", "preview", "data_base64"}}


Files = Shelf[StoredFile]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a produced file; `index` counts the files of a round, `turn` the user's turns of the session."""

    run_id: str
    tool: str
    round: int
    index: int
    turn: int

    @property
    def file_id(self) -> str:
        """An id that contains run and round."""
        return f"file_{self.run_id[:12]}_r{self.round}_{self.index}"

    @property
    def source(self) -> Json:
        """The member `source`."""
        return {"tool": self.tool, "round": self.round, "turn": self.turn}


def produced_body(origin: Origin, file: Produced, created: int) -> Json:
    """The description of a file that a tool has made."""
    body = _body(origin.file_id, file.name, len(file.data), created, "agent_output")
    return {**body, "source": origin.source, **_content(file.data)}


def missing_body(origin: Origin, name: str, created: int) -> Json:
    """The description of a file that was declared and not written: the reason, instead of the content."""
    why = {"code": "file_not_produced", "message": f"no tool has written {name}"}
    return {**_body(origin.file_id, name, 0, created, "agent_output"), "source": origin.source, **why}


def uploaded_body(file_id: str, name: str, data: bytes, created: int, purpose: str) -> Json:
    """The description of a file that a client has uploaded, with the members of OpenAI's files too."""
    body = _body(file_id, name, len(data), created, purpose)
    return {**body, "object": "file", "filename": name, **_content(data)}


def _body(file_id: str, name: str, size: int, created: int, purpose: str) -> Json:
    body: Json = {"id": file_id, "name": name}
    ending = PurePosixPath(name).suffix.lstrip(".")
    if ending:
        body["format"] = ending
    mime, _ = mimetypes.guess_type(name)
    if mime:
        body["mime_type"] = mime
    return {**body, "bytes": size, "created_at": created, "purpose": purpose}


def _content(data: bytes) -> Json:
    if len(data) > ELIDED_ABOVE:
        return {}
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return {"data_base64": base64.b64encode(data).decode("ascii")}
    return {"text": text, "preview": text[:PREVIEW]}
