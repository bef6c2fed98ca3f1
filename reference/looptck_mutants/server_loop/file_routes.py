"""The routes of files: storing, listing and returning them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bounded import Shelf
from looptck_reference.server.files import StoredFile
from looptck_reference.server.serving import Config, Simulator


class FilingSimulator(Simulator):
    """A simulator with its own shelf for files."""

    shelf: type[Shelf[StoredFile]] = Shelf

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        limits = config.limits
        self.files = self.shelf(
            limit=limits.files,
            capacity=limits.file_bytes,
            ttl=limits.file_ttl,
            clock=config.clock,
            weigh=lambda file: len(file.data),
        )


@breaks.part_of(FilingSimulator, "shelf")
class FileShelf(Shelf[StoredFile]):
    """A shelf for files."""


@breaks("server-file-content-can-be-fetched")
class ContentIsText(FileShelf):
    """Decodes the bytes of a file as text when they are read."""

    def get(self, owner: str, key: str) -> StoredFile | None:
        file = super().get(owner, key)
        return file and replace(file, data=file.data.decode("utf-8", "replace").encode())


@breaks("server-unknown-file-is-404")
class UnknownFilesAreEmpty(FileShelf):
    """Returns an empty file for an unknown id."""

    def get(self, owner: str, key: str) -> StoredFile | None:
        return super().get(owner, key) or StoredFile({"id": key, "name": key}, b"")


@breaks("server-placeholder-has-no-content")
class PlaceholdersAreEmpty(FileShelf):
    """Returns empty content for a declared file that was never written."""

    def put(self, owner: str, key: str, value: StoredFile) -> bool:
        kept = {name: one for name, one in value.body.items() if name not in {"code", "message"}}
        return super().put(owner, key, replace(value, body=kept))


@breaks("server-large-files-are-fetched-not-inlined")
class LargeFilesAreCut(FileShelf):
    """Truncates stored files at 8 MiB."""

    def put(self, owner: str, key: str, value: StoredFile) -> bool:
        return super().put(owner, key, replace(value, data=value.data[: 8 * 1024 * 1024]))


@breaks("server-uploaded-files-can-be-fetched")
class UploadsAreText(FileShelf):
    """Reads uploads as UTF-8."""

    def put(self, owner: str, key: str, value: StoredFile) -> bool:
        text = value.data.decode(errors="replace").encode()
        return super().put(owner, key, replace(value, data=text) if value.body["purpose"] == "user_data" else value)


@breaks("server-uploaded-files-can-be-fetched")
class UploadsAreNotListed(FileShelf):
    """Omits uploads from the list of files."""

    def of(self, owner: str) -> Iterator[StoredFile]:
        return (file for file in super().of(owner) if file.body["purpose"] == "agent_output")
