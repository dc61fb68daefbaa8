"""Speaks the wire over the unix socket, and starts the daemon when nobody listens. No msgspec, no asyncio."""
