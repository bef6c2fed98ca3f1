"""The member `files` of a request: input files of code execution, and files that it will write."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence

from looptck_reference.server.errors import Refused
from looptck_reference.server.files import StoredFile
from looptck_reference.server.values import InputFile, RequestFiles
from looptck_reference.vocabulary.values import Json

__all__ = ["fit_name", "request_files"]


def request_files(files: Sequence[Json | str], find: Callable[[str], StoredFile | None], limit: int) -> RequestFiles:
    """The purpose of each entry of `files`.

    An id, alone or as `{"id"}`, and a content, `{"name", "text"}` or `{"name", "data_base64"}`, are input files; a name
    alone, `{"name"}`, declares a file that a tool will write.

    Raises:
        Refused: an entry has another form, or all together have more than `limit` bytes.
    """
    read = [_file(one, f"files[{place}]", find) for place, one in enumerate(files)]
    inputs = tuple(one for one in read if isinstance(one, InputFile))
    if sum(len(one.data) for one in inputs) > limit:
        raise Refused(413, f"the files of a request have more than {limit} bytes together", param="files")
    return RequestFiles(inputs, tuple(one for one in read if isinstance(one, str)))


def fit_name(name: object, where: str) -> str:
    """The name, if it is a valid file name: without folders, and at most 255 bytes long.

    Raises:
        Refused: the name is invalid.
    """
    fit = isinstance(name, str) and name not in {"", ".", ".."} and not set(name) & set("/\\\0")
    if not fit or len(str(name).encode("utf-8", "surrogatepass")) > 255:
        raise Refused(422, f"{where} is not a file name: {name!r:.100}", param=where)
    return str(name)


def _file(one: Json | str, where: str, find: Callable[[str], StoredFile | None]) -> InputFile | str:
    file_id = one if isinstance(one, str) else one.get("id")
    if file_id is not None:
        stored = find(str(file_id))
        if stored is None:
            raise Refused(404, f"{where}: there is no file {file_id!r:.100}", param=where)
        return InputFile(stored.name.rsplit("/", 1)[-1], stored.data, stored.id)
    assert not isinstance(one, str)
    name = fit_name(one.get("name"), f"{where}.name")
    if one.get("text") is None and one.get("data_base64") is None:
        return name
    if isinstance(one.get("text"), str):
        return InputFile(name, one["text"].encode("utf-8", "replace"))
    try:
        return InputFile(name, base64.b64decode(one.get("data_base64") or "", validate=True))
    except (TypeError, ValueError, binascii.Error) as error:
        raise Refused(422, f"{where} has an invalid text or data_base64", param=where) from error
