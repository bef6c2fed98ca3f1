"""Properties: bodies of checks that have to hold for many values, which hypothesis draws and shrinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import wraps
from typing import TYPE_CHECKING, Any

from looptck.values.drawing import seed_of, undisturbed
from looptck.values.frozen import dataclass
from looptck.values.verdicts import NotApplicable, NotReached

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SHRINKS = 100
"""The most values that are tried to shrink a failing value.

Hypothesis itself has a limit of five minutes, which a slow implementation would use for every failed property.
"""

Drawn = dict[tuple[str, str, str, int], list[dict[str, Any]]]
drawn: Drawn = {}
"""The values for which a property held, by property: they are the same in every cell, and drawing them takes longer
than running them."""


@dataclass(slots=True)
class Property:
    """A body that has to hold for many values of its strategies.

    The values depend only on the body's name, so they are the same every time and for every implementation. Values
    that are not applicable are left out.
    """

    body: Callable[..., None]
    strategies: Sequence[SearchStrategy[Any]]
    first: Mapping[str, Any] | None
    """Values that are tried before all others, however few examples there are."""
    examples: int
    shrinks: bool
    """Whether a value for which it does not hold is shrunk."""
    note: Callable[[Mapping[str, Any]], None]
    """Told the values of each try, and none when all have been tried."""
    _held: int = 0
    _left_out: NotApplicable | None = field(default=None)

    def hold(self) -> None:
        """Try it; a value for which it does not hold is shrunk and its error raised.

        Raises:
            NotApplicable: no value is applicable.
        """
        key = (self.body.__module__, self.body.__qualname__, repr(self.strategies), self.examples)
        try:
            for values in drawn.get(key, ()):
                self._try(**values)
        except (AssertionError, NotReached):
            if self.shrinks:
                self._search()  # the same values again, to be shrunk
            raise
        if key not in drawn:
            drawn[key] = self._search()
        if self._left_out is not None and not self._held:
            raise self._left_out

    def _try(self, **values: Any) -> None:
        try:
            self.body(**values)
        except NotApplicable as reason:
            self._left_out = reason
        else:
            self._held += 1

    def _search(self) -> list[dict[str, Any]]:
        """Draw values and try them; returns all of them, if it holds for all."""
        from hypothesis import HealthCheck, Phase, Verbosity, example, given, seed, settings

        chosen = settings(
            max_examples=self.examples,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if self.shrinks else [])),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.normal,
        )
        values_of: list[dict[str, Any]] = []
        failed: list[str] = []
        left = SHRINKS

        @wraps(self.body)
        def noted(**values: Any) -> None:
            nonlocal left
            if failed and repr(values) not in failed:
                if left == 0:
                    return  # as if it had passed, which ends the search with the smallest value so far
                left -= 1
            values_of.append(values)
            self.note(values)
            try:
                self._try(**values)
            except (AssertionError, NotReached):
                failed.append(repr(values))
                raise

        search = given(*self.strategies)(noted)
        if self.first:
            search = example(**self.first)(search)
        with undisturbed():
            chosen(seed(seed_of(self.body))(search))()
        self.note({})
        return values_of
