"""The three APIs that clients speak: each reads requests into `RunRequest` and writes events in its own words."""
