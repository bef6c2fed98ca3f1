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

wanted = sys.argv[1:] or [*BENCHES]
if unknown := [name for name in wanted if name not in BENCHES]:
    sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHES)}")
for name in wanted:
    print(f"== {name}")
    BENCHES[name]()
