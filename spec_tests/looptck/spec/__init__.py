"""The conformance tests: a folder for each profile and one for traits, a file for each family of requirements.

Here are what several of them share, and the tests of declared cases and of cassettes. Run them with ``looptck run``, or
``pytest --pyargs looptck.spec --looptck-driver DRIVER``.
"""
