"""The simulator as an ASGI application."""
