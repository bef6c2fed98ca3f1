"""Prompts that run other prompts as tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck_reference.prompty.prompts import Loader, PromptError, load
from meta.reference.reference_prompts import HEAD, SAMPLES, loaded, written


def running(*paths: str) -> str:
    """Frontmatter with a tool for each of these paths."""
    return f"{HEAD}\ntools:" + "".join(
        f"\n- {{name: t{n}, kind: prompty, path: {path}}}" for n, path in enumerate(paths)
    )


def test_a_tool_takes_what_its_prompt_takes() -> None:
    """Its schema is that of the child's inputs; without a default they are required, unless they say otherwise."""
    desk = load(SAMPLES / "desk.prompty")
    ask, shorten, _ = desk.tools

    assert {
        "type": "object",
        "properties": {
            "order": {"type": "integer", "description": "Its number"},
            "tongue": {"type": "string"},
            "mood": {"type": "string", "default": "kind"},
        },
        "required": ["order"],
    } == ask.parameters
    assert ["text"] == shorten.parameters["required"]
    assert {"path": "./children/expert.prompty", "mode": "agentic"} == ask.options
    assert {"path": "children/short.prompty", "mode": "single"} == shorten.options
    assert ("Knows orders", "Makes a text short") == (ask.description, shorten.description)


def test_children_share_the_environment(tmp_path: Path) -> None:
    """Their references are resolved as those of their parent."""
    written(tmp_path, "user:\nA.", "name: child\nmodel: ${env:M}", name="child.prompty")

    assert "m" == loaded(tmp_path, front=running("child.prompty"), M="m").children["t0"].model.id


def test_a_child_may_have_several_parents(tmp_path: Path) -> None:
    """That is no circle, and each file is read once for each depth, however many ways lead to it."""
    for level in range(8):
        below = running(*[f"level{level + 1}.prompty"] * 2)
        written(tmp_path, "user:\nGo.", below, name=f"level{level}.prompty")
    written(tmp_path, "user:\nGo.", name="level8.prompty")
    reads: list[str] = []

    class Counting(Loader):
        def child_path(self, parent: Path, entry_path: str) -> Path:
            reads.append(entry_path)
            return super().child_path(parent, entry_path)

    prompt = Counting().load(tmp_path / "level0.prompty")

    assert 16 == len(reads)
    assert prompt.children["t0"] is prompt.children["t1"]


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("nowhere.prompty", "nowhere.prompty, which does not exist; paths are relative to the folder"),
        (".", "which does not exist"),
        ("../outside.prompty", "is outside the folder"),
        ("below/../../outside.prompty", "is outside the folder"),
        ("{outside}/outside.prompty", "is outside the folder"),
        ("link.prompty", "is outside the folder"),
        ("linked/outside.prompty", "is outside the folder"),
        ("../missing.prompty", "is outside the folder"),
        ('"a\\0b"', "is not a valid file name"),
        ("a" * 5000, "is not a valid file name"),
    ],
)
def test_a_child_lies_in_the_folder_of_the_first_prompt(tmp_path: Path, path: str, what: str) -> None:
    """Whatever way its path takes, or it is refused with the place of its path."""
    outside, inside = tmp_path / "outside", tmp_path / "outside" / "inside"
    written(outside, "user:\nSecret.", name="outside.prompty")
    (inside / "below").mkdir(parents=True)
    (inside / "link.prompty").symlink_to(outside / "outside.prompty")
    (inside / "linked").symlink_to(outside)
    parent = written(inside, "user:\nGo.", running(path.replace("{outside}", str(outside))))

    with pytest.raises(PromptError) as caught:
        load(parent)

    assert (parent.resolve(), "/tools/0/path") == (caught.value.path, caught.value.place)
    assert what in str(caught.value)


def test_a_child_may_lie_above_its_parent(tmp_path: Path) -> None:
    """As long as it lies in the folder of the first prompt; links and absolute paths may lead there."""
    written(tmp_path, "user:\nA.", name="top.prompty")
    (tmp_path / "link.prompty").symlink_to(tmp_path / "top.prompty")
    below = running("../top.prompty", "../link.prompty", str(tmp_path / "top.prompty"))
    written(tmp_path, "user:\nB.", below, name="below/child.prompty")

    child = loaded(tmp_path, front=running("below/child.prompty")).children["t0"]

    assert [tmp_path.resolve() / "top.prompty"] * 3 == [one.path for one in child.children.values()]


@pytest.mark.parametrize(
    ("files", "at", "chain"),
    [
        ({"a": ["a"]}, ("a", "/tools/0/path"), "a.prompty → a.prompty"),
        (
            {"a": ["d", "b"], "b": ["d", "c"], "c": ["d", "b"], "d": []},
            ("c", "/tools/1/path"),
            "a.prompty → b.prompty → c.prompty → b.prompty",
        ),
    ],
)
def test_a_prompt_cannot_run_itself(
    tmp_path: Path, files: dict[str, list[str]], at: tuple[str, str], chain: str
) -> None:
    """Nor through others: the chain is shown, with the place of the tool that closes the circle."""
    for name, children in files.items():
        written(tmp_path, "user:\nGo.", running(*[f"{child}.prompty" for child in children]), name=f"{name}.prompty")

    with pytest.raises(PromptError) as caught:
        load(tmp_path / "a.prompty")

    assert at == (caught.value.path.stem, caught.value.place)
    assert f"is a cycle: {chain}; a prompt cannot run itself" in str(caught.value)


def test_prompts_lie_at_most_eight_deep(tmp_path: Path) -> None:
    """Below the first; the chain is shown, and the place in the file that goes too far."""
    for level in range(9):
        written(tmp_path, "user:\nGo.", running(f"p{level + 1}.prompty"), name=f"p{level}.prompty")
    written(tmp_path, "user:\nGo.", name="p9.prompty")

    assert "p2.prompty" == load(tmp_path / "p1.prompty").children["t0"].path.name
    with pytest.raises(PromptError, match=r"p8\.prompty: /tools/0/path: is nested more than 8 prompts deep:"):
        load(tmp_path / "p0.prompty")
