"""The vocabulary says every text, each token followed by one and the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.bench.cases import cases
from looptck.commands.recording.scripted.scripts import scenarios
from looptck.commands.recording.scripted.vocabulary import FALLBACKS, Vocabulary, due, vocabulary

WARM = "It is warm in Paris, again."


def learnt(*texts: str) -> Vocabulary:
    """A vocabulary with these texts, named by their numbers from 0."""
    words = Vocabulary()
    for at, text in enumerate(texts):
        words.learn(str(at), text)
    return words


def test_every_turn_is_said() -> None:
    """From its start on, the pieces of each turn are its text, and so are those of the fall-back answers."""
    ours = scenarios(cases())
    words = vocabulary(ours)
    texts = {due(one.name, at): text for one in ours for at, text in enumerate(one.turns, 1)} | FALLBACKS

    assert texts == {name: "".join(words.said(name)) for name in words.starts}


def test_pieces_are_like_words() -> None:
    """A text falls into words with the space before them, and punctuation; the end is no single byte."""
    assert ["It", " is", " warm", " in", " Paris", ", again."] == learnt(WARM).said("0")


def test_long_words_are_cut() -> None:
    """A word of more than eight characters, such as a line without spaces in some scripts, is several pieces."""
    assert ["abcdefgh", "ijkl"] == learnt("abcdefghijkl").said("0")


def test_a_piece_that_is_taken_moves_the_border() -> None:
    """Where a piece is followed by something else in another text, a longer or shorter one takes its place."""
    words = learnt(WARM, "It is warm in Oslo, again?")

    assert "It is warm in Oslo, again?" == "".join(words.said("1"))
    assert not set(words.said("0")) & set(words.said("1"))


def test_equal_ends_are_shared() -> None:
    """What is left to say is the same, so it is said with the same pieces."""
    words = learnt(WARM, f"So: {WARM}")

    assert words.said("0")[1:] == words.said("1")[-len(words.said("0")) + 1 :]


def test_no_piece_is_a_single_byte() -> None:
    """The bytes have tokens already, from which nothing follows but the end."""
    assert all(len(piece.encode()) > 1 for piece in vocabulary(scenarios(cases())).pieces)


def test_a_new_text_leaves_the_old_as_they_were() -> None:
    """Borders depend on the text alone, but for collisions."""
    assert learnt(WARM).said("0") == learnt("nothing alike", WARM).said("1")


def test_texts_that_are_much_alike_are_said() -> None:
    """Where no short piece is left the rest of a text is one."""
    texts = [f"A long beginning that all of these many texts have in common, word by word: {n}." for n in range(200)]
    words = learnt(*texts)

    assert texts == ["".join(words.said(str(at))) for at in range(len(texts))]


def test_whole_parts_are_not_cut() -> None:
    """No border falls inside a part that is to stay whole, at any place, nor at the borders of no part."""
    words = Vocabulary()
    words.learn("0", "See <a b c>, <a b c> and <d>.", ["<a b c>", "<d>"])
    said = words.said("0")

    assert "See <a b c>, <a b c> and <d>." == "".join(said)
    assert 3 == sum(piece.count("<a b c>") + piece.count("<d>") for piece in said)


def test_a_text_that_cannot_be_cut_is_refused() -> None:
    """A text of one byte has no piece of its own."""
    with pytest.raises(ValueError, match="cannot be cut into pieces of its own: '!'"):
        learnt("!")


@given(st.lists(st.text("ab é", max_size=12), max_size=6))
def test_whatever_is_learnt_is_said(texts: list[str]) -> None:
    """However alike texts are: each that is learnt is said as it is, and later ones change nothing."""
    words, said = Vocabulary(), {}
    for at, text in enumerate(texts):
        try:
            words.learn(str(at), text)
        except ValueError:
            continue
        said[str(at)] = text

    assert said == {name: "".join(words.said(name)) for name in words.starts}
