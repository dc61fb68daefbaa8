"""The shared database of a fleet, on PostgreSQL. Imported only after a host joined one.

Enters: commands on shared claims, the sessions of a host.
Leaves: answers and rows that all hosts agree on, or `SharedUnavailable`.
"""
