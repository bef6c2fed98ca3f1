"""Recording: cases run with the official SDKs against a real server, captured, redacted and written to files.

Needs the extra ``record``; only the command line imports this package.
"""
