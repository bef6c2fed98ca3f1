"""Measures the speed of looptck and its reference, as ratios within one run: ``tox -e bench``. This is not a test.

``tox -e bench -- decoding provider`` runs only those.
"""

from __future__ import annotations

import sys

from tools.bench import chain, decoding, provider, runs, suite

BENCHES = {
    "suite": suite.main,
    "decoding": decoding.main,
    "provider": provider.main,
    "chain": chain.main,
    "runs": runs.main,
}

for name in sys.argv[1:] or BENCHES:
    print(f"== {name}")
    BENCHES[name]()
