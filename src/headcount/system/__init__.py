"""The operating system: processes, socket peers, signals, file events, mounts, git, tmux, clocks.

Enters: pids, sockets, paths and directories.
Leaves: facts, or "unknown" when the system does not answer. Only what was verified is signalled.
"""
