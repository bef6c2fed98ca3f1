"""The routes of data that outlives a run: sessions, approvals, files; and the routes that describe the server."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, File, Form, Path, Request, UploadFile
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from looptck_reference.server.api.agentic import SessionId
from looptck_reference.server.api.session_body import read_session, session_body
from looptck_reference.server.errors import Refused
from looptck_reference.server.files import StoredFile, uploaded_body
from looptck_reference.server.http.answers import json_answer
from looptck_reference.server.http.clients import owner_of
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import Decision
from looptck_reference.server.uploads import fit_name
from looptck_reference.vocabulary.values import Json

__all__ = ["router"]

router = APIRouter()

Id = Annotated[SessionId, Path()]


class ApprovalBody(BaseModel):
    """A decision."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: Literal["approve", "deny"]
    remember_for_session: bool = False
    message: str | None = Field(None, max_length=4096)


def _simulator(request: Request) -> Simulator:
    simulator: Simulator = request.app.state.simulator
    return simulator


@router.get("/v1/sessions/{session_id}")
async def get_session(session_id: Id, request: Request) -> Response:
    """The history of one of the client's sessions."""
    simulator = _simulator(request)
    session = simulator.sessions.get(owner_of(request), session_id)
    if session is None:
        raise Refused(404, f"there is no session {session_id}", param="session_id")
    return json_answer(session_body(session, simulator.config.dialect))


@router.put("/v1/sessions/{session_id}")
async def put_session(session_id: Id, body: Annotated[Any, Body()], request: Request) -> Response:
    """Replace the session's history, or create a session with it."""
    simulator = _simulator(request)
    session = read_session(body, simulator.config.dialect)
    if not simulator.sessions.put(owner_of(request), session_id, session):
        raise Refused(413, "the session is larger than the server keeps", param="messages")
    return json_answer(session_body(session, simulator.config.dialect))


@router.delete("/v1/sessions/{session_id}")
async def delete_session(session_id: Id, request: Request) -> dict[str, str | bool]:
    """Delete the session; a missing session is no error."""
    return {"session_id": session_id, "deleted": _simulator(request).sessions.drop(owner_of(request), session_id)}


@router.post("/v1/agent/approvals/{approval_id}")
async def decide(approval_id: str, body: ApprovalBody, request: Request) -> Response:
    """Allow or deny a tool for which a stream of the client waits; `not_found` if none does."""
    decision = Decision(body.decision == "approve", body.message, body.remember_for_session)
    if not _simulator(request).approvals.decide(owner_of(request), approval_id, decision):
        return json_answer({"status": "not_found"}, 404)
    return json_answer({"status": "resolved"})


@router.post("/v1/files")
async def upload(
    request: Request,
    file: Annotated[UploadFile, File()],
    purpose: Annotated[str, Form(max_length=64)] = "user_data",
) -> dict[str, Any]:
    """Store a file that requests may name in `files`."""
    simulator = _simulator(request)
    name = fit_name(file.filename, "file.filename")
    file_id = f"file-{uuid.uuid4().hex}"
    data = await file.read()
    stored = StoredFile(uploaded_body(file_id, name, data, int(simulator.config.clock.now()), purpose), data)
    if not simulator.files.put(owner_of(request), file_id, stored):
        raise Refused(413, "the file is larger than the server keeps", param="file")
    return stored.listing


@router.get("/v1/files")
async def list_files(request: Request) -> Json:
    """The client's files: its uploads, and the files that tools have made for it."""
    files = _simulator(request).files.of(owner_of(request))
    return {"object": "list", "data": [file.listing for file in files]}


@router.get("/v1/files/{file_id}")
async def get_file(file_id: str, request: Request) -> Response:
    """The description of a file, with its content unless that is too large."""
    return json_answer(_file(file_id, request).body)


@router.get("/v1/files/{file_id}/content")
async def get_content(file_id: str, request: Request) -> Response:
    """The bytes of a file, never with a type that a browser would execute."""
    file = _file(file_id, request)
    if "code" in file.body:
        raise Refused(422, f"{file_id} has no content: {file.body['message']}", param="file_id")
    headers = {"x-content-type-options": "nosniff", "content-disposition": "attachment"}
    return Response(file.data, media_type="application/octet-stream", headers=headers)


@router.get("/v1/models")
async def list_models(request: Request) -> Json:
    """The configured names; a request may name others, which the model behind the server judges."""
    models = _simulator(request).config.models
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "upstream"} for name in models]
    return {"object": "list", "data": listed}


@router.get("/health")
async def health(request: Request) -> Json:
    """Whether the server is up, and how much it stores."""
    simulator = _simulator(request)
    counts = {"runs": simulator.runs, "sessions": len(simulator.sessions), "files": len(simulator.files)}
    return {"status": "ok", **counts, "approvals": len(simulator.approvals)}


def _file(file_id: str, request: Request) -> StoredFile:
    file = _simulator(request).files.get(owner_of(request), file_id)
    if file is None:
        raise Refused(404, f"there is no file {file_id:.100}", param="file_id")
    return file
