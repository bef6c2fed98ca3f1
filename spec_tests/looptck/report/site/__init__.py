"""The site: what implementations do right and wrong, as static pages with a receipt behind every number."""
