"""The model file: the same twice, and with no doubt in it about the next token."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.cases import cases
from looptck.commands.recording.scripted.scripts import scenarios
from looptck.commands.recording.scripted.vocabulary import vocabulary

gguf = pytest.importorskip("gguf", reason="needs the extra scripted")
np = pytest.importorskip("numpy", reason="needs the extra scripted")

BUILD = """
import sys
from pathlib import Path
from looptck.bench.cases import cases
from looptck.commands.recording.scripted import director, scripts, vocabulary, weights

ours = scripts.scenarios(cases())
weights.write(Path(sys.argv[1]), vocabulary.vocabulary(ours), director.template(ours))
"""


def built(path: Path, seed: str) -> Path:
    """The model file, built in a process of its own with this seed for hashes."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-c", BUILD, str(path)], env=environment, check=True)
    return path


@pytest.fixture(scope="module", name="file")
def _file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("model") / "one.gguf", "1")


@pytest.fixture(scope="module", name="read")
def _read(file: Path) -> tuple[list[str], Any]:
    """The texts of the tokens, and for each token the logits of all, as a server would work them out."""
    reader = gguf.GGUFReader(file)
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    hidden = tensors["token_embd.weight"]
    scale = np.sqrt((hidden**2).mean(axis=1, keepdims=True) + 1e-5)
    return reader.fields["tokenizer.ggml.tokens"].contents(), hidden / scale @ tensors["output.weight"].T


def test_two_builds_are_the_same(file: Path, tmp_path: Path) -> None:
    """Nothing of the process, the day or the machine is in the file."""
    other = built(tmp_path / "two.gguf", "2")

    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest()


def test_every_token_stands_once(read: tuple[list[str], Any]) -> None:
    """Servers refuse a vocabulary with twins."""
    texts, _ = read

    assert len(set(texts)) == len(texts)


def test_the_next_token_is_beyond_doubt(read: tuple[list[str], Any]) -> None:
    """Between the best logit and the next one there is more than any temperature or seed can level out."""
    _, logits = read
    second, first = np.sort(logits, axis=1)[:, -2:].T

    assert 20 < (first - second).min()


def test_the_weights_say_what_the_vocabulary_says(read: tuple[list[str], Any]) -> None:
    """Read from the file alone, every turn is followed to its end, piece by piece."""
    texts, logits = read
    words = vocabulary(scenarios(cases()))
    following = dict(zip(texts, (texts[at] for at in logits.argmax(axis=1)), strict=True))

    for name in words.starts:
        said, token = 0, following[f"<|{name}|>"]
        while token != "<|im_end|>":  # noqa: S105  a token of a text
            said, token = said + 1, following[token]
        assert len(words.said(name)) == said
