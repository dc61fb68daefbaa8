"""Rules about what an ended session left.

Enters: finds of the daemon's searches.
Leaves: leftovers that were found, moved or are gone, in a draft.
"""
