"""The state directory under a running daemon: one daemon per home, and its files are still ours.

Enters: a home's paths.
Leaves: a lock, an opened store, or the end of this daemon.
"""
