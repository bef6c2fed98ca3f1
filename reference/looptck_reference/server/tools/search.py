"""Web search without the web: on a small index that is given as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from looptck_reference.server.values import Called, Result
from looptck_reference.vocabulary.values import Json

__all__ = ["FAKE_INDEX", "Page", "SearchIndex"]

RESULTS = 5


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the index."""

    title: str
    url: str
    description: str
    content: str


FAKE_INDEX = (
    Page("Paris", "https://encyclopedia.test/paris", "The capital of France.", "Paris lies on the Seine."),
    Page("Rome", "https://encyclopedia.test/rome", "The capital of Italy.", "Rome lies on the Tiber."),
    Page("Weather in Paris", "https://weather.test/paris", "Today in Paris.", "It is 18 degrees and sunny in Paris."),
    Page("Agent loops", "https://blog.test/loops", "How loops end.", "A loop ends when the model calls no tool."),
)


class SearchIndex:
    """Finds the pages that share the most words with a query; of equal pages the earlier one comes first."""

    def __init__(self, pages: Iterable[Page] = FAKE_INDEX) -> None:
        self._pages = tuple(pages)

    @classmethod
    def from_file(cls, path: Path) -> SearchIndex:
        """Pages from a JSON array of objects with the members of `Page`.

        Raises:
            ValueError: the file has another format.
        """
        try:
            return cls(Page(**page) for page in json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{path} is not an array of pages with title, url, description and content: {error}"
            ) from error

    def find(self, query: str) -> Sequence[Page]:
        """The best pages."""
        wanted = _words(query)
        scored = [(len(wanted & _words(" ".join(asdict(page).values()))), page) for page in self._pages]
        return [page for score, page in sorted(scored, key=lambda one: -one[0]) if score][:RESULTS]

    async def run(self, called: Called) -> Result:
        """Search for the argument `query`."""
        arguments = called.arguments
        query = arguments.get("query") if isinstance(arguments, dict) else None
        if not isinstance(query, str):
            return Result(_text({"error": "Invalid search arguments: query is no string"}))
        pages = self.find(query)
        sources = list(dict.fromkeys(urlsplit(page.url).hostname or "" for page in pages))
        summary = f"{len(pages)} results" + (f"\nsources: {', '.join(sources)}" if sources else "")
        data = {"results_count": len(pages), "sources": sources}
        return Result(_text({"output": [asdict(page) for page in pages]}), data, summary)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
