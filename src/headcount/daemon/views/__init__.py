"""Turn core values into the rows of the wire.

Enters: sessions, claims, leftovers, events.
Leaves: wire types with times as text.
"""
