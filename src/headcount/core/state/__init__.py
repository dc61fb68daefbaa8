"""What is remembered, and the draft on which a batch is decided.

Enters: rows from the store at the start, committed drafts afterwards.
Leaves: the World that rules read, and its Draft that they write.
"""
