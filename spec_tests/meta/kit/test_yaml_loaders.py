"""YAML without libyaml: PyYAML's own loader reads every file of the project as the fast one does."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from looptck.catalogue.data import cassette, fixture

TARGETS = Path(__file__).parents[2] / "targets"
FILES = {
    "fixtures": sorted(fixture("").rglob("*.yaml")),
    "cassettes": sorted(cassette("").rglob("*.yaml")),
    "targets": sorted(TARGETS.glob("*/*.yaml")),
}


@pytest.mark.parametrize("folder", FILES)
def test_both_loaders_read_every_file_alike(folder: str) -> None:
    """Without libyaml, PyYAML refuses some texts that it reads with it, such as a bare question mark in braces."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES[folder]}

    assert texts
    assert [] == [str(path) for path, text in texts.items() if _read(text, yaml.CSafeLoader) != _slowly(text)]


def _slowly(text: str) -> str:
    """What the loader in Python reads, or why it does not."""
    try:
        return _read(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        return str(error)


def _read(text: str, loader: type[yaml.SafeLoader | yaml.CSafeLoader]) -> str:
    """What is read, with its types: `1`, `1.0` and `true` are equal to Python."""
    return repr(yaml.load(text, Loader=loader))  # noqa: S506  both are safe
