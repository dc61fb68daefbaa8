"""Handlers, one file per subject, and the table of all routes (table.py).

Enters: a call with its caller and body.
Leaves: wire answers and streams.
"""
