"""The local store: one SQLite file, one writer, one reader.

Enters: events and rows of one batch.
Leaves: a durable commit or a StoreFault; at a start, everything that was remembered.
"""
