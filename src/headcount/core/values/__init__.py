"""What things are: value types with their tables.

Enters: nothing: a value is built by whoever knows it.
Leaves: processes, sessions, claims, leftovers, evidence, events.
"""
