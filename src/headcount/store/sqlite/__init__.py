"""The local store: one SQLite file with one writer thread and one reader thread.

Enters: the events and rows of one batch.
Leaves: a durable commit or a `StoreFault`; at a start, everything that was stored.
"""
