"""Failures: the first wrong event of a run, the cause of a failure, and its report."""
