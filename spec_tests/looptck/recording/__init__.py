"""Recording: cases driven through the official SDKs against a real server, captured, redacted and written down.

Needs the extra ``record``; only the command line imports this package.
"""
