"""Arguments in, values out."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import parse_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", "null"),
        ("true", "a boolean"),
        ("3", "a number"),
        ('"a"', "a string"),
        ("[]", "an array"),
        ("[{}]", "an array"),
    ],
)
def test_json_that_is_no_object_is_refused(text: str, kind: str) -> None:
    """Only an object can be keyword arguments."""
    with pytest.raises(BadArguments, match=f"^expected a JSON object, got {kind}$"):
        parse_arguments(text)
