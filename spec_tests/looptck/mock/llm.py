"""A mock model service for a test: it plays a script on every wire, and judges what it is asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from looptck.catalogue.dialects import dialect as dialect_named
from looptck.catalogue.requirements import unknown
from looptck.mock import findings, tape
from looptck.mock.answers import Item
from looptck.mock.endpoint import Endpoint
from looptck.mock.findings import KINDS, Finding
from looptck.mock.playlist import When
from looptck.mock.recorder import Recorder
from looptck.mock.requests import Request
from looptck.mock.script_file import read
from looptck.provider.gate import Gate
from looptck.provider.server import Provider
from looptck.wires import WIRES
from looptck.wires.spoken import spoken

__all__ = ["LLM", "Failed"]

KEY = "looptck-no-real-key"


class Failed(AssertionError):
    """The code under test has not done what the script and the service expect of it."""


def environment(url: str) -> dict[str, str]:
    """The environment in which SDKs find a mock at this base URL, without a key of a real service."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
    }


class LLM:
    """A mock model service. Use it as a context manager where no fixture makes it.

    Args:
        allow: kinds of findings that do not fail the test, see `allow`.
        judge: whether requests are judged and refused as the real service would.
        dialect: the compatible server that it plays, such as ``vllm``; None: the vendors' own services.
        patience: seconds that a reply waits for a gate before it goes on without it.
        provider: the server to use; None: one of its own.
        folder: where the paths of scripts and recordings begin.
        records: the environment with the base URLs and keys of the services that `replays` records; None: it plays.

    Raises:
        ValueError: there is no such kind or dialect.
    """

    def __init__(
        self,
        *,
        allow: Iterable[str] = (),
        judge: bool = True,
        dialect: str | None = None,
        patience: float = 5.0,
        provider: Provider | None = None,
        folder: Path = Path(),
        records: Mapping[str, str] | None = None,
    ) -> None:
        speaks = dialect_named(dialect) if dialect is not None else None
        wires = [spoken(wire, speaks) if speaks is not None else wire for wire in WIRES.values()]
        self._endpoint = Endpoint(wires, patience=patience, closes=True)
        self._endpoint.judges = judge
        self._allowed: set[str] = set()
        self.allow(*allow)
        self._own = Provider() if provider is None else None
        self._provider = provider
        self._url = ""
        self._folder = folder
        self._records = records
        self._tape: Path | None = None
        self._gates = itertools.count(1)

    # -- before the test's code runs ---------------------------------------------------------------------------------

    def plays(self, *answers: Item | Path, when: When | None = None, repeat: bool = False) -> Self:
        """Answer the next requests with these answers, in order, after those that are already in the script.

        Args:
            answers: ``says(…)``, ``calls(…)``, ``fails(…)``, a text, or a function of the request that returns one;
                or the path of a file with a script.
            when: only requests with this text anywhere in them, or those for which this function is true. Their
                conversation advances by itself; without it all other requests are answered.
            repeat: whether the answers begin again after the last.

        Raises:
            TypeError: one is no answer.
            BadFile: a file holds no script.
        """
        scripts = [one for one in answers if isinstance(one, Path)]
        if scripts and (len(answers) > 1 or when is not None or repeat):
            raise TypeError("a script in a file is played alone, and says itself when, and whether it repeats")
        for path in scripts:
            for part in read(self._folder / path).parts:
                self._endpoint.playlist.add(part.steps, part.when, repeats=part.repeats)
        if not scripts:
            self._endpoint.playlist.add(answers, when, repeats=repeat)  # type: ignore[arg-type]
        return self

    def replays(self, path: str | Path) -> Self:
        """Answer the next requests with the recorded replies, byte for byte; or record them there.

        With ``pytest --looptck-record`` each request is passed on to the service that the environment names, and the
        file is written when the test has passed: without keys and without what names a person or a machine.

        Raises:
            BadFile: it holds no recording that can be played.
        """
        if self._records is None:
            self._endpoint.playlist.add(tape.steps(self._folder / path), None, repeats=False)
            return self
        self._tape = self._folder / path
        self._endpoint.recorder = Recorder(self._records)
        return self

    def keep(self, name: str) -> None:
        """Write what was recorded, if anything was, as the recording of this test.

        Raises:
            Failed: there is nothing to keep, or a secret in it cannot be masked.
        """
        recorder = self._endpoint.recorder
        if recorder is None or self._tape is None:
            return
        recorder.end()
        if recorder.troubles or not recorder.taped:
            raise Failed("; ".join(recorder.troubles) or "nothing was asked, so nothing is recorded")
        upstream = recorder.upstream(self.requests[0].wire)
        try:
            tape.write(self._tape, recorder.taped, upstream=upstream, name=name, secrets=recorder.secrets)
        except tape.Leak as error:
            raise Failed(f"not recorded: {error}") from error

    def allow(self, *kinds: str) -> Self:
        """Do not fail the test for findings of these kinds.

        ``refused``, ``beyond`` (after the end of the script), ``unplayed``, ``unrouted``, ``waited`` and ``error``.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise ValueError(unknown("kind of finding", kind, list(KINDS)))
            self._allowed.add(kind)
        return self

    def gate(self, name: str = "") -> Gate:
        """A gate for ``says("…").held(gate)``: the reply waits there until the test calls ``gate.open()``."""
        return Gate(name or f"gate {next(self._gates)}")

    # -- where it is -------------------------------------------------------------------------------------------------

    @property
    def base_url(self) -> str:
        """The base URL of all wires, with or without ``/v1`` after it."""
        return self._url

    @property
    def openai_url(self) -> str:
        """The base URL as OpenAI's SDKs want it: with ``/v1``."""
        return f"{self._url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL as Anthropic's SDKs want it: without ``/v1``."""
        return self._url

    @property
    def api_key(self) -> str:
        """A key for clients that want one. Any other will do."""
        return KEY

    @property
    def env(self) -> Mapping[str, str]:
        """The environment in which SDKs find it, without a key of a real service."""
        return environment(self._url)

    # -- afterwards --------------------------------------------------------------------------------------------------

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests to the model so far, in order."""
        return tuple(self._endpoint.requests)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong so far, without the kinds that are allowed; at the end of a test also answers not played."""
        found = [*self._endpoint.findings]
        left = [item for one in self._endpoint.playlist.conversations for item in one.left]
        if left and not any(one.kind in {"refused", "error"} for one in found):
            found.append(findings.unplayed(left, self._endpoint.count))
        return tuple(one for one in found if one.kind not in self._allowed)

    def verify(self) -> None:
        """Raise Failed if anything is wrong. A fixture and the end of the ``with`` block do so by themselves."""
        found = self.findings
        if found:
            raise Failed("\n\n".join(one.text for one in found)) from self._endpoint.broken

    def __enter__(self) -> Self:
        if self._own is not None:
            self._provider = self._own.__enter__()
        assert self._provider is not None
        self._url = self._provider.open(self._endpoint)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is None:
            self.verify()

    def close(self) -> None:
        """Stop answering."""
        assert self._provider is not None
        self._provider.close(self._endpoint)
        if self._own is not None:
            self._own.__exit__(None, None, None)
