"""Speak the wire over the unix socket, and start the daemon. No msgspec, no asyncio outside aio.

Enters: calls of faces and of Python programs.
Leaves: answers as plain data or typed values, faults with exit codes.
"""
