"""The shared database of a fleet. Imported only after a host joined one.

Enters: commands on shared claims, the roster of a host.
Leaves: answers and rows that all hosts agree on.
"""
