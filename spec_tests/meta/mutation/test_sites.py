"""Sites have names that edits elsewhere do not change, know their lines, and show what they do."""

from __future__ import annotations

from tools.mutation.sites import Site, difference, sites

SOURCE = """\
class Loop:
    limit = 3

    def reached(self, calls):
        if calls >= self.limit:
            return calls
        return pick(
            calls,
            self.limit,
        )
"""


def names(source: str) -> list[str]:
    """The names of all sites in a module ``loop.py``."""
    return [site.name for site in sites("loop.py", source)]


def site_of(source: str, text: str) -> Site:
    """The first site whose name holds a text."""
    return next(site for site in sites("loop.py", source) if text in site.name)


def test_a_name_says_where_and_what() -> None:
    """Module, function, what is done, and the source that it is done to."""
    assert [
        "loop.py Loop.limit: int + 1: `limit = 3`",
        "loop.py Loop.limit: int - 1: `limit = 3`",
        "loop.py Loop.reached: comparison flipped: `calls >= self.limit`",
        "loop.py Loop.reached: boundary moved: `calls >= self.limit`",
        "loop.py Loop.reached: return dropped: `return calls`",
        "loop.py Loop.reached: return dropped: `return pick( calls, self.limit, )`",
        "loop.py Loop.reached: arguments 1 and 2 swapped: `pick( calls, self.limit, )`",
    ] == names(SOURCE)


def test_names_survive_edits_elsewhere() -> None:
    """New lines and functions before a site leave its name as it was."""
    edited = f"import os\n\n\ndef first(a, b):\n    return a < b\n\n\n{SOURCE}"

    assert names(SOURCE) == [name for name in names(edited) if "Loop" in name]


def test_names_are_unique() -> None:
    """The same text in the same function is counted."""
    twice = names("def f(a):\n    a.append(g)\n    a.append(g)\n")

    assert ["loop.py f: append dropped: `a.append(g)`", "loop.py f: append dropped: `a.append(g)` #2"] == twice


def test_a_statement_is_on_all_its_lines() -> None:
    """A change inside a statement is executed with any line of it."""
    assert range(7, 11) == site_of(SOURCE, "arguments 1 and 2").lines


def test_a_condition_is_on_its_own_lines() -> None:
    """What stands below a condition says nothing of whether the condition is executed."""
    assert range(5, 6) == site_of(SOURCE, "comparison flipped").lines


def test_functions_run_and_modules_are_imported() -> None:
    """What is executed on import is told from what is executed in a call; a lambda is called."""
    source = "a = 1\ndef f(b=2): return 3\nc = lambda: 4\n"

    assert {"a = 1": False, "2": False, "return 3": True, "lambda: 4": True} == {
        site.name.split("`")[1]: site.runs for site in sites("m.py", source)
    }


def test_a_difference_is_that_of_the_statement() -> None:
    """A person is shown what stood there and what stands there instead."""
    assert ("calls >= self.limit", "calls < self.limit") == difference(SOURCE, site_of(SOURCE, "comparison flipped"))
    assert ("return calls", "calls") == difference(SOURCE, site_of(SOURCE, "return dropped: `return calls`"))


def test_a_difference_is_short() -> None:
    """Of a long statement only what is around the change."""
    source = f"a = {'b' * 99} + 1 + {'c' * 99}"

    old, new = difference(source, sites("m.py", source)[0])

    assert (f"…{'b' * 57} + 1 + {'c' * 57}…", f"…{'b' * 57} + 2 + {'c' * 57}…") == (old, new)
