"""What each command of ``looptck`` does."""
