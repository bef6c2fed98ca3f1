"""Files that cannot be used: the error says where the fault is, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck_reference import LoopError
from looptck_reference.prompts import PromptError, load
from meta.reference.reference_prompts import HEAD, loaded, said, written

TOOL = f"{HEAD}\ntools:\n- name: t\n  kind: function\n"
"""Frontmatter with a tool, whose next line is line 7 of the file."""


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "does not begin with frontmatter; put it between two lines of ---"),
        ("user:\nGo.", 1, "does not begin with frontmatter"),
        ("\n\nuser:\nGo.", 3, "does not begin with frontmatter"),
        ("---\nname: x\nuser:\nGo.", 1, "the frontmatter has no end; close it with a line of ---"),
        ("\n---\nname: x\n+++\nuser:\nGo.", 2, "has no end; close it with a line of ---"),
        ("---\n---\nuser:\nGo.", 1, "the frontmatter is no mapping"),
        ("---\n- name: x\n---\nuser:\nGo.", 1, "the frontmatter is no mapping"),
        (f"---\n{HEAD}\n---\n", None, "says nothing after its frontmatter"),
        (f"---\n{HEAD}\n---\n \n\n", None, "says nothing after its frontmatter"),
    ],
)
def test_a_file_has_frontmatter_and_a_body(tmp_path: Path, text: str, line: int | None, what: str) -> None:
    """And says where one of them ends."""
    path = tmp_path / "sample.prompty"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(PromptError) as caught:
        load(path)

    assert (path, line) == (caught.value.path, caught.value.line)
    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("front", "line", "what"),
    [
        ("name: [x\nmodel: m", 3, "the frontmatter is not YAML: while parsing a flow sequence"),
        ("name: x\n\tmodel: m", 3, "the frontmatter is not YAML"),
        ("name: x\nmodel: m: n", 3, "not YAML: mapping values are not allowed"),
        ("name: x\nmodel: \x01", 3, "the frontmatter holds '\\x01', which YAML forbids; write it escaped"),
        (f"{HEAD}\n...\nname: y", 5, "not YAML"),
        (f"{HEAD}\nname: y", 4, "name stands in line 2 already; keep one of them"),
        (f"{HEAD}\n? [a]\n: b", 4, "a name must be text, not a list or a mapping"),
        (f"{HEAD}\na: &a [1]\nb: *a", 5, "the frontmatter holds an alias; write out what it stands for"),
        (f"{HEAD}\na: *a", 4, "the frontmatter holds an alias"),
        (f"{HEAD}\na: {'[' * 60}", 4, "nested more than 50 deep; make it flatter"),
        (f"{HEAD}\na: !!python/object:os.system x", 4, "a has the tag tag:yaml.org,2002:python/object:os.system"),
        (f"{HEAD}\na: !!set {{b}}", 4, "a has the tag tag:yaml.org,2002:set; leave it out"),
        (f"{HEAD}\na: !mine [b]", 4, "a has the tag !mine; leave it out"),
        (f"{HEAD}\na: [1, .inf]", 4, "a[1] is .inf, which JSON cannot say"),
        (f"{HEAD}\na: !!int b", 4, "a is not what its tag tag:yaml.org,2002:int says; put it in quotes"),
        (f"{HEAD}\na: {'9' * 5000}", 4, "put it in quotes"),
        ("model: m", 2, "name is missing; write `name: …`"),
        ("name:\nmodel: m", 2, "name is missing; write `name: …`"),
        ("name: 7\nmodel: m", 2, "name must be text, not 7"),
        ('name: " "\nmodel: m', 2, "name must not be empty"),
        ("name: x\nmodel: m\ndescription: [a]", 4, "description must be text, not a list"),
        ("name: x", 2, "model is missing"),
        ("name: x\nmodel: 4", 3, "model must be text, not 4"),
        ("name: x\nmodel:\n  provider: openai", 3, "model has no id; write `id: …`"),
        ("name: x\nmodel:\n  id: {a: b}", 4, "model.id must be text, not a mapping"),
        ("name: x\nmodel:\n  id: m\n  provider: 1", 5, "model.provider must be text, not 1"),
        (
            "name: x\nmodel:\n  id: m\n  apiType: image",
            5,
            "is 'image', which is not known here; write one of: chat, re",
        ),
        ("name: x\nmodel: {id: m, connection: key}", 3, "model.connection must be a mapping, not 'key'"),
        ("name: x\nmodel: {id: m, connection: {kind: oauth}}", 3, "model.connection.kind is 'oauth', which is not kn"),
        ("name: x\nmodel: {id: m, connection: {endpoint: 1}}", 3, "model.connection.endpoint must be text, not 1"),
        ("name: x\nmodel: {id: m, options: [a]}", 3, "model.options must be a mapping, not a list"),
        ("name: x\nmodel: {id: m, options: {stream: 'yes'}}", 3, "options.stream must be true or false, not 'yes'"),
        ("name: x\nmodel: {id: m, options: {additionalProperties: a}}", 3, "must be a mapping, not 'a'"),
        ("name: x\nmodel: ${env:NOPE}", 3, "model refers to the environment variable 'NOPE', which is not set; set it"),
        ("name: x\nmodel:\n- ${env:NOPE}", 4, "model[0] refers to the environment variable 'NOPE'"),
        ("name: x\nmodel: ${file:m.json}", 3, "holds ${file:m.json}, whose protocol is not known; known is env, as in"),
        ("name: x\nmodel: ${env:M", 3, "model holds a reference without an end, ${env:M; close it with a brace"),
        (f"{HEAD}\ntemplate: mustache", 4, "template is 'mustache', which is not known here; write one of: jinja2"),
        (f"{HEAD}\ntemplate:\n  format: {{kind: f}}", 5, "template.format.kind is 'f', which is not known here"),
        (
            f"{HEAD}\ntemplate:\n  format: {{kind: jinja}}",
            5,
            "template.format.kind is 'jinja', which is not known here",
        ),
        (f"{HEAD}\ntemplate:\n  format: f", 5, "template.format is 'f', which is not known here; write one of: jinja2"),
        (
            f"{HEAD}\ntemplate:\n  parser: json",
            5,
            "template.parser is 'json', which is not known here; write one of: p",
        ),
        (f"{HEAD}\ntemplate: [jinja2]", 4, "template must be text, not a list"),
        (f"{HEAD}\ninputs: question", 4, "inputs must be a list of entries with a name, or a mapping, not 'question'"),
        (f"{HEAD}\ninputs:\n- kind: string", 5, "inputs[0] has no name; write `name: …`"),
        (f"{HEAD}\ninputs:\n-", 5, "inputs[0] must be a mapping, not nothing"),
        (f"{HEAD}\ninputs:\n- question", 5, "inputs[0] must be a mapping, not 'question'"),
        (f"{HEAD}\ninputs:\n- name: q", 5, "inputs[0] has no kind; write `kind: …`"),
        (f"{HEAD}\ninputs:\n  q: {{}}", 5, "inputs.q has no kind"),
        (
            f"{HEAD}\ninputs:\n- name: q\n  kind: thread",
            6,
            "inputs[0].kind is 'thread', which is not known here; write",
        ),
        (f"{HEAD}\ninputs:\n- {{name: q, kind: string}}\n- {{name: q, kind: float}}", 6, "has the name 'q' of line 5"),
        (
            f"{HEAD}\ninputs:\n- {{name: q, kind: string, required: no!}}",
            5,
            "required must be true or false, not 'no!'",
        ),
        (f"{HEAD}\ninputs: {{}}\ninputSchema: {{}}", 5, "inputSchema stands beside the inputs of line 4; keep one"),
        (f"{HEAD}\ninputSchema:\n  properties:\n    q: {{kind: text}}", 6, "inputSchema.properties.q.kind is 'text'"),
        (f"{HEAD}\ntools: t", 4, "tools must be a list of entries with a name"),
        (f"{HEAD}\ntools:\n- kind: function", 5, "tools[0] has no name; write `name: …`"),
        (f"{HEAD}\ntools:\n- name: t", 5, "tools[0] has no kind; write `kind: …`"),
        (f"{HEAD}\ntools:\n  t: function", 5, "tools.t must be a mapping, not 'function'"),
        (f"{TOOL}- name: t\n  kind: function", 7, "tools[1] has the name 't' of line 5; give each a name of its own"),
        (f"{TOOL}  strict: 1", 7, "tools[0].strict must be true or false, not 1"),
        (f"{TOOL}  description: 1", 7, "tools[0].description must be text, not 1"),
        (f"{TOOL}  parameters: [city]", 7, "tools[0].parameters[0] must be a mapping, not 'city'"),
        (f"{TOOL}  parameters:\n  - name: city\n    type: string", 8, "tools[0].parameters[0] has no kind"),
        (f"{TOOL}  parameters:\n    city:\n      kind: any", 9, "tools[0].parameters.city.kind is 'any'"),
        (f"{TOOL}  parameters:\n    a:\n      kind: array\n      items: string", 10, "items must be a mapping"),
        (
            f"{TOOL}  parameters:\n    a:\n      kind: object\n      properties: 1",
            10,
            "properties must be a list of en",
        ),
        (f"{TOOL}  parameters:\n    a:\n      kind: string\n      enum: a", 10, "enum must be a list, not 'a'"),
        (f"{TOOL}  bindings:\n    unit: {{}}", 8, "tools[0].bindings.unit has no input; write `input: …`"),
        (f"{TOOL}  bindings:\n    unit: 3", 8, "tools[0].bindings.unit must be text, not 3"),
        (f"{TOOL}  bindings:\n  - name: unit", 8, "tools[0].bindings[0] has no input"),
        (f"{HEAD}\ntools:\n- name: t\n  kind: prompty", 5, "tools[0] has no path; write `path: …`"),
        (
            f"{HEAD}\ntools:\n- {{name: t, kind: prompty, path: a, mode: b}}",
            5,
            "mode is 'b', which is not known here; wr",
        ),
    ],
)
def test_faults_of_the_frontmatter_have_a_line(tmp_path: Path, front: str, line: int, what: str) -> None:
    """And name the field."""
    with pytest.raises(PromptError) as caught:
        loaded(tmp_path, front=front)

    assert (
        f"{tmp_path.resolve() / 'sample.prompty'}:{line}: "
        == str(caught.value)[: -len(_behind_the_place(caught.value))]
    )
    assert line == caught.value.line
    assert what in _behind_the_place(caught.value)


def _behind_the_place(error: PromptError) -> str:
    return str(error).removeprefix(f"{error.path}:{error.line}: ")


@pytest.mark.parametrize(
    ("body", "line", "what"),
    [
        ("user:\n\n{% if %}", 7, "the template cannot be read: Expected an expression"),
        ("user:\n{{ question | shout }}", 6, "the template cannot be read: No filter named 'shout'"),
        ("user:\n{% for a in b %}", 6, "the template cannot be read: Unexpected end of template"),
        ("user:\n{{ missing }}", 6, "'missing' is undefined; pass it, or declare it as an input with a default"),
        ("user:\n{% if missing %}a{% endif %}", 6, "'missing' is undefined"),
        ("user:\nA\n{{ missing.name }}", 7, "'missing' is undefined"),
        ("user:\n{{ 1 / 0 }}", 6, "the template failed: ZeroDivisionError: division by zero"),
        ("user:\n{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}", 7, "the template failed: ZeroDivisionError"),
        ("user:\n{{ ''.__class__ }}", 6, "the template failed: SecurityError: access to attribute '__class__'"),
        ("user:\n{{ lipsum() }}", 6, "'lipsum' is undefined"),
        ("user:\n{% include 'other.txt' %}", 6, "the template failed: TypeError: no loader"),
        ("user:\n{% for n in range(1000000) %}{% endfor %}", 6, "the template failed: OverflowError: Range too big"),
        ("system:\nA\nuser[name=me]:\nB", 7, "attributes of a role are not known here; write `user:`"),
        ("{% for n in [] %}\nuser:\n{% endfor %}", None, "the template makes no message of its inputs"),
        ("user:\n" + "{% for a in [1] %}" * 30 + "{% endfor %}" * 30, None, "nested too deep; make it flatter"),
        (
            "user:\n{% for a in range(99999) %}{{ 'much' * 99 }}{% endfor %}",
            None,
            "makes more than 16777216 characters",
        ),
    ],
)
def test_faults_of_the_body_have_the_line_of_the_file(tmp_path: Path, body: str, line: int | None, what: str) -> None:
    """When it is loaded, or when it is filled in."""
    with pytest.raises(PromptError) as caught:
        said(tmp_path, body)

    assert line == caught.value.line
    assert what in str(caught.value)


def _fault_of(path: Path) -> tuple[Path, int | None, str]:
    """Where a file cannot be used, and why."""
    with pytest.raises(PromptError) as caught:
        load(path)
    return caught.value.path, caught.value.line, str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Its whole path is told; a folder is no file either."""
    path = tmp_path / "nowhere.prompty"

    assert (path, None, f"{path}: there is no such file") == _fault_of(path)
    assert (tmp_path, None, f"{tmp_path}: there is no such file") == _fault_of(tmp_path)


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is told."""
    path = written(tmp_path, "user:\nGo.")
    monkeypatch.setattr(Path, "open", lambda *_: open(tmp_path))  # noqa: PTH123, SIM115  which opens no folder

    assert (path, None, f"{path}: cannot be read: Is a directory") == _fault_of(path)


def test_a_file_has_to_be_utf_8(tmp_path: Path) -> None:
    """The line of the first byte that is not is told."""
    path = tmp_path / "latin.prompty"
    path.write_bytes(b"\n---\nname: caf\xe9\n---\n")

    assert (path, 3, f"{path}:3: is not UTF-8 text; save the file as UTF-8") == _fault_of(path)


def test_a_file_has_to_be_of_a_size_that_can_be_read(tmp_path: Path) -> None:
    """One byte less is not too large."""
    room = 256 * 1024 - len(written(tmp_path, "user:\n").read_bytes())

    assert [("user", "x" * room)] == said(tmp_path, "user:\n" + "x" * room)
    path = written(tmp_path, "user:\n" + "x" * (room + 1))
    what = "is larger than 262144 bytes; shorten it, and pass long texts as inputs"
    assert (path, None, f"{path}: {what}") == _fault_of(path)


def test_frontmatter_has_to_be_of_a_depth_that_can_be_read(tmp_path: Path) -> None:
    """Fifty, with the mapping that it is itself."""
    deep = f"{HEAD}\na: {'[' * 49}{']' * 49}"

    assert "sample" == loaded(tmp_path, front=deep).name
    with pytest.raises(PromptError, match="nested more than 50 deep"):
        loaded(tmp_path, front=f"{HEAD}\na: {'[' * 50}{']' * 50}")


def test_the_error_is_one_of_the_loops() -> None:
    """Whoever catches those, or a ValueError as the documents have it, catches it too."""
    error = PromptError(Path("a.prompty"), 3, "is odd")

    assert isinstance(error, LoopError)
    assert isinstance(error, ValueError)
    assert ("a.prompty:3: is odd", "other") == (str(error), error.reason)
