"""Sockets, connections and the checks before every route; the page's listener.

Enters: bytes of callers.
Leaves: checked requests; answers and streams as bytes.
"""
