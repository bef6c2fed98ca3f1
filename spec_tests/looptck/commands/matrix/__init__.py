"""The matrix: published implementations in environments of their own, played and kept, for the site to show."""
