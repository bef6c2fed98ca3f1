"""The conformance tests: one file for each family of requirements.

Run them with ``looptck run``, or ``pytest --pyargs looptck.spec --looptck-driver DRIVER``.
"""
