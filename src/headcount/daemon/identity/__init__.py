"""Whose report it is, and who is calling.

Enters: a socket peer, a stat line, a token, an environment.
Leaves: a process, a session, a caller; or nobody, with the reason.
"""
