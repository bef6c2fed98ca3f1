"""``python -m looptck.cli``: the command ``looptck``."""

from looptck.cli import entry

entry()
