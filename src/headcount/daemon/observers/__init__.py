"""Look further after a commit: transcripts, terminals, checkouts, stalls, notifications.

Enters: committed events and the world.
Leaves: evidence; notifications for people. One that raises hurts no other.
"""
