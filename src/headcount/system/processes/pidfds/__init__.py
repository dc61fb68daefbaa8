"""Pidfds on Linux: the system calls, the kernel features, the watches and the handle that may be signalled.

Enters: a pid or a remembered process identity.
Leaves: open handles, exit statuses, deaths on the event loop.
"""
