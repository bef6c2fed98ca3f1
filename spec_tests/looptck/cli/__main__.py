"""``python -m looptck.cli``: the command ``looptck``."""

from looptck.cli import entry

if __name__ == "__main__":
    entry()
