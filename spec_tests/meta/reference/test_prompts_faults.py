"""Files that cannot be used: the error names the file, the place in it, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck_reference import LoopError
from looptck_reference.prompty.prompts import PromptError, load
from meta.reference.reference_prompts import HEAD, loaded, said, written

TOOL = f"{HEAD}\ntools:\n- name: t\n  kind: function\n"
TWICE = "{name: b, kind: float}, {name: b, kind: float}"
NO_YAML = "the frontmatter is not YAML that can be expressed as JSON"


def _fault_of(path: Path) -> str:
    """What is wrong with a file, behind its name."""
    with pytest.raises(PromptError) as caught:
        load(path, environment={})
    assert path == caught.value.path
    assert str(caught.value).startswith(f"{path}: ")
    assert not caught.value.place or str(caught.value.place).startswith("/")
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "does not begin with frontmatter; put it between two lines of ---"),
        (b"user:\nGo.", "does not begin with frontmatter"),
        (b"---\nname: x\nuser:\nGo.", "does not begin with frontmatter; put it between two lines of ---"),
        (b"\n---\nname: x\n+++\nuser:\nGo.", "does not begin with frontmatter"),
        (b"---\nname: sample\nmodel: m\n---\n \n\n", "has no text after its frontmatter; write `user:` and a text"),
        (b"\n---\nname: caf\xe9\n---\n", "is not valid UTF-8 at byte 14; save it as UTF-8"),
    ],
)
def test_a_file_has_frontmatter_and_a_body(tmp_path: Path, content: bytes, what: str) -> None:
    """In UTF-8."""
    path = tmp_path / "sample.prompty"
    path.write_bytes(content)

    assert _fault_of(path).startswith(what)


@pytest.mark.parametrize(
    ("front", "what"),
    [
        ("name: [x\nmodel: m", f"{NO_YAML}: while parsing a flow sequence"),
        (
            f"{HEAD}\nname: y",
            f"{NO_YAML}: a key that is not a string, or a duplicate key (line 4, column 1)",
        ),
        (f"{HEAD}\n? [a]\n: b", f"{NO_YAML}: a key that is not a string, or a duplicate key"),
        (f"{HEAD}\na: &a [1]\nb: *a", "the frontmatter contains the alias *a; write its value out instead"),
        (f"{HEAD}\na: {'[' * 60}", "the frontmatter is nested more than 50 levels deep; make it flatter"),
        (f"{HEAD}\na: !!python/object:os.system x", f"{NO_YAML}: could not determine a constructor for the tag"),
        (f"{HEAD}\na: !!set {{b}}", NO_YAML),
        (f"{HEAD}\na: !!map [b]", f"{NO_YAML}: expected a mapping node"),
        (f"{HEAD}\na: [1, .inf]", NO_YAML),
        (f"{HEAD}\na: {'9' * 5000}", NO_YAML),
        ("", 'the frontmatter: its value is not of type "object"'),
        ("name:\nmodel: m", 'the frontmatter: "name" is a required property'),
        ('name: ""\nmodel: m', "/name: its value is shorter than 1 character"),
        ("name: x\nmodel: [m]", '/model: its value is not of type "string"'),
        ("name: x\nmodel: {provider: openai}", '/model: "id" is a required property'),
        ("name: x\nmodel: {id: m, apiType: image}", "/model/apiType: its value must be one of chat, responses"),
        (
            "name: x\nmodel: {id: m, connection: {kind: a}}",
            "/model/connection/kind: its value must be one of key, anonymous",
        ),
        ("name: x\nmodel: {id: m, options: {stream: 'yes'}}", "/model/options/stream: its value is not of type"),
        (
            "name: x\nmodel: ['${env:NOPE}']",
            "/model/0: refers to the environment variable 'NOPE', which is not set; set it",
        ),
        (
            "name: x\nmodel: ${file:m.json}",
            "/model: contains ${file:m.json}, whose protocol is unknown; use ${env:NAME}",
        ),
        ("name: x\nmodel: ${env:M", "/model: contains a reference without its closing brace: ${env:M"),
        (f"{HEAD}\ntemplate: mustache", '/template: "jinja2" was expected'),
        (f"{HEAD}\ntemplate: {{format: {{kind: f}}}}", '/template/format/kind: "jinja2" was expected'),
        (f"{HEAD}\ntemplate: {{parser: f}}", '/template/parser: "prompty" was expected'),
        (f"{HEAD}\ninputs: q", '/inputs: its value is not of types "array", "object"'),
        (f"{HEAD}\ninputs:\n- q", '/inputs/0: its value is not of type "object"'),
        (f"{HEAD}\ninputs:\n- name: q", '/inputs/0: "kind" is a required property'),
        (
            f"{HEAD}\ninputs: {{a/~: {{kind: any}}}}",
            "/inputs/a~1~0/kind: its value must be one of string, integer, float, n",
        ),
        (f"{HEAD}\ninputs: {{}}\ninputSchema: {{}}", "/inputSchema: cannot be used together with /inputs"),
        (f"{HEAD}\ninputs: [{TWICE}]", "/inputs/1: has the name 'b', as /inputs/0 has; names must be unique"),
        (
            f"{HEAD}\ninputSchema: {{properties: {{q: {{kind: a}}}}}}",
            "/inputSchema/properties/q/kind: its value must be one",
        ),
        (
            f"{HEAD}\ninputSchema: {{properties: [{TWICE}]}}",
            "/inputSchema/properties/1: has the name 'b', as /inputSch",
        ),
        (f"{TOOL}- name: t\n  kind: mine", "/tools/1: has the name 't', as /tools/0 has; names must be unique"),
        (f"{TOOL}  strict: 1", '/tools/0/strict: its value is not of type "boolean"'),
        (
            f"{TOOL}  parameters: {{a: {{kind: array, items: b}}}}",
            "/tools/0/parameters/a/items: its value is not of type",
        ),
        (
            f"{TOOL}  parameters: {{a: {{kind: array, items: {{kind: object, properties: [{TWICE}]}}}}}}",
            "/tools/0/parameters/a/items/properties/1: has the name 'b', as /tools/0/parameters/a/items/properties/0",
        ),
        (f"{TOOL}  bindings: {{unit: {{}}}}", '/tools/0/bindings/unit: "input" is a required property'),
        (f"{TOOL}  bindings: [{TWICE.replace('kind', 'input')}]", "/tools/0/bindings/1: has the name 'b'"),
        (f"{HEAD}\ntools: [{{name: t, kind: prompty}}]", '/tools/0: "path" is a required property'),
        (
            f"{HEAD}\ntools: {{t: {{kind: prompty, path: a, mode: b}}}}",
            "/tools/t/mode: its value must be one of single, agen",
        ),
    ],
)
def test_faults_of_the_frontmatter_have_a_place(tmp_path: Path, front: str, what: str) -> None:
    """A JSON pointer, or the line of what is no YAML; and never the value, which may be a key."""
    assert _fault_of(written(tmp_path.resolve(), "user:\nGo.", front)).startswith(what)


@pytest.mark.parametrize(
    ("body", "place", "what"),
    [
        ("user:\n\n{% if %}", 7, "the template cannot be read: Expected an expression"),
        (
            "user:\nA\n{{ missing.name }}",
            7,
            "'missing' is undefined; pass it, or declare it as an input with a default",
        ),
        ("user:\n{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}", 7, "the template failed: ZeroDivisionError"),
        ("user:\n{{ ''.__class__ }}", 6, "the template failed: SecurityError: access to attribute '__class__'"),
        ("user:\n{{ lipsum() }}", 6, "'lipsum' is undefined"),
        ("user:\n{% for n in range(1000000) %}{% endfor %}", 6, "the template failed: OverflowError: Range too big"),
        ("system:\nA\nuser[name=me]:\nB", 7, "attributes of a role are not supported; write `user:`"),
        ("{% for n in [] %}\nuser:\n{% endfor %}", None, "the template produces no message from these inputs"),
        ("user:\n" + "{% for a in [1] %}" * 30 + "{% endfor %}" * 30, None, "nested too deeply; make it flatter"),
        ("user:\n{% for a in range(99999) %}{{ 'much' * 99 }}{% endfor %}", None, "more than 16777216 characters"),
    ],
)
def test_faults_of_the_body_have_the_line_of_the_file(tmp_path: Path, body: str, place: int | None, what: str) -> None:
    """When it is loaded, or when it is filled in."""
    with pytest.raises(PromptError) as caught:
        said(tmp_path, body)

    assert place == caught.value.place
    assert what in str(caught.value)


def test_lines_count_from_the_top_of_the_file(tmp_path: Path) -> None:
    """Also where it begins with empty ones."""
    path = written(tmp_path, "user:\n{{ missing }}")
    path.write_text("\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")

    with pytest.raises(PromptError, match=r"sample\.prompty:8: 'missing' is undefined"):
        load(path).messages({})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A folder is no file either."""
    assert "the file does not exist" == _fault_of(tmp_path / "nowhere.prompty") == _fault_of(tmp_path)


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is given."""
    path = written(tmp_path, "user:\nGo.")
    monkeypatch.setattr(Path, "open", lambda *_: open(tmp_path))  # noqa: PTH123, SIM115  which opens no folder

    assert "cannot be read: Is a directory" == _fault_of(path)


def test_a_file_has_to_be_of_a_size_that_can_be_read(tmp_path: Path) -> None:
    """One byte less is not too large; a letter that is cut in two there is no other fault."""
    room = 256 * 1024 - len(written(tmp_path, "user:\n").read_bytes())

    assert [("user", "x" * room)] == said(tmp_path, "user:\n" + "x" * room)
    what = "is larger than 262144 bytes; shorten it, and pass long texts as inputs"
    assert what == _fault_of(written(tmp_path, "user:\n" + "x" * room + "é"))


def test_frontmatter_has_to_be_of_a_depth_that_can_be_read(tmp_path: Path) -> None:
    """Fifty, with the mapping that it is itself."""
    assert "sample" == loaded(tmp_path, front=f"{HEAD}\na: {'[' * 49}{']' * 49}").name
    with pytest.raises(PromptError, match="nested more than 50 levels deep"):
        loaded(tmp_path, front=f"{HEAD}\na: {'[' * 50}{']' * 50}")


def test_the_error_is_one_of_the_loops() -> None:
    """Whoever catches those, or a ValueError as the documents have it, catches it too."""
    error = PromptError(Path("a.prompty"), 3, "is odd")

    assert isinstance(error, LoopError)
    assert isinstance(error, ValueError)
    assert ("a.prompty:3: is odd", "other") == (str(error), error.reason)
