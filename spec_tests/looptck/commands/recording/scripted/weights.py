"""The model file: weights in which the next token is a fixed function of the token before.

Every token has a code, a row of signs from the hash of its text. A token's embedding is the code of its successor, and
its row of the output matrix is its own code; attention and feed-forward of the one block are zero. So the hidden state
names the successor, and its logit is so far above all others that no sampler picks another token, at any
temperature and seed. Two builds are the same to the byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from looptck.commands.recording.scripted.vocabulary import Vocabulary
from looptck.values.frozen import dataclass

CONTEXT = 32768
"""Tokens that a conversation may have; a prompt has one for each byte."""
WIDTH = 256
"""Signs of a code: the bits of SHA-256."""
_GAIN = 40.0
"""The logit of the successor. Those of the others are chance, about 2.5 and hardly ever over 15."""
_HEADS = 4
_START, _END = "<|im_start|>", "<|im_end|>"
_PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_SPELLING = {byte: chr(byte) for byte in _PRINTABLE} | {byte: chr(256 + at) for at, byte in enumerate(_OTHERS)}
"""How a tokenizer of GPT-2 spells bytes: printable ones as themselves, the others as characters from U+0100 on."""
_MERGED = "ÿÿ"
"""What the one merge of the tokenizer leads to; these bytes stand in no text."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the tokenizer spells it, and the one that follows."""

    text: str
    successor: str = _END
    control: bool = False


def tokens(words: Vocabulary) -> Iterator[Token]:
    """The tokens in the order of their numbers: marks of the template, bytes of prompts, a merge, starts, pieces."""
    yield Token(_START, control=True)
    yield Token(_END, control=True)
    yield from (Token(spelling) for _, spelling in sorted(_SPELLING.items()))
    yield Token(_MERGED)
    yield from (Token(f"<|{name}|>", _spelled(first), control=True) for name, first in words.starts.items())
    yield from (Token(_spelled(piece), _spelled(after)) for piece, after in words.pieces.items())


def write(path: Path, words: Vocabulary, template: str) -> None:
    """Write the model as a GGUF file, with its tokenizer and its chat template."""
    rows = list(tokens(words))
    number = {row.text: at for at, row in enumerate(rows)}
    codes = np.stack([_code(row.text) for row in rows])
    square, ones = np.zeros((WIDTH, WIDTH), np.float32), np.ones(WIDTH, np.float32)

    file = gguf.GGUFWriter(path, "llama")
    file.add_name("scripted")
    file.add_block_count(1)
    file.add_context_length(CONTEXT)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(WIDTH)
    file.add_head_count(_HEADS)
    file.add_head_count_kv(_HEADS)
    file.add_rope_dimension_count(WIDTH // _HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(rows))
    file.add_file_type(gguf.LlamaFileType.ALL_F32)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("smollm")
    file.add_token_list([row.text for row in rows])
    file.add_token_types([gguf.TokenType.CONTROL if row.control else gguf.TokenType.NORMAL for row in rows])
    file.add_token_merges([" ".join(_MERGED)])  # there has to be one
    file.add_bos_token_id(number[_START])
    file.add_eos_token_id(number[_END])
    file.add_pad_token_id(number[_END])
    file.add_add_bos_token(False)
    file.add_chat_template(template)
    file.add_tensor("token_embd.weight", codes[[number[row.successor] for row in rows]])
    file.add_tensor("output.weight", codes * np.float32(_GAIN / WIDTH))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        file.add_tensor(f"blk.0.{name}.weight", square)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        file.add_tensor(f"{name}.weight", ones)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def _code(token: str) -> Any:
    bits = np.unpackbits(np.frombuffer(hashlib.sha256(token.encode()).digest(), np.uint8))
    return bits.astype(np.float32) * 2 - 1


def _spelled(piece: str) -> str:
    """A piece as the tokenizer spells it; no piece is the end."""
    return "".join(_SPELLING[byte] for byte in piece.encode()) or _END
