"""Terminals, tmux servers and shells."""
