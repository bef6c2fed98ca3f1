"""Recording: cases driven through the official SDKs against a real server, captured, redacted and written down.

Needs the extra ``record``; nothing else of the kit imports this room, but for the command line.
"""
