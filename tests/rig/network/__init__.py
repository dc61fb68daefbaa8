"""Servers and lines: PostgreSQL, sshd, raw requests, lines that can be cut."""
