"""Tmux: its servers, panes and windows. All calls block and have deadlines; run them in a thread.

Enters: sockets of tmux servers.
Leaves: panes, clients, captured text; windows that were shown, opened or closed.
"""

from headcount.system.tmux.panes import (
    PANE,
    Panes,
    TmuxClient,
    attach_command,
    capture,
    close_pane,
    close_window,
    list_clients,
    list_panes,
    looked_at,
    open_window,
    push,
    show,
    switch_client,
)
from headcount.system.tmux.server import NoServer, Unreachable, find_sockets

__all__ = (
    "PANE",
    "NoServer",
    "Panes",
    "TmuxClient",
    "Unreachable",
    "attach_command",
    "capture",
    "close_pane",
    "close_window",
    "find_sockets",
    "list_clients",
    "list_panes",
    "looked_at",
    "open_window",
    "push",
    "show",
    "switch_client",
)
