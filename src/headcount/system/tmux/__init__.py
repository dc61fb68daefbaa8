"""Tmux: its servers, their panes, and what they are told. All of it blocks, with deadlines: for a thread."""

from headcount.system.tmux.asking import NoServer, Unreachable, find_sockets
from headcount.system.tmux.panes import PANE, Client, Panes, capture, list_clients, list_panes, looked_at
from headcount.system.tmux.windows import (
    attach_command,
    close_pane,
    close_window,
    open_window,
    push,
    show,
    switch_client,
)

__all__ = (
    "PANE",
    "Client",
    "NoServer",
    "Panes",
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
