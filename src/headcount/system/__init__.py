"""The kernel and the machine: processes, socket peers, file events, git, tmux.

Enters: questions of the daemon.
Leaves: facts, or "unknown" when the machine does not answer.
"""
