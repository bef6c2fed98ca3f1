"""The three APIs for clients: each parses requests into `RunRequest` and writes events in its own format."""
