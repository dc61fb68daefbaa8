"""The terminal UI: a live, full-screen `ps`.

Enters: the event stream and answers of the daemon.
Leaves: a screen; verbs run as commands of their own.
"""
