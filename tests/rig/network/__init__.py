"""Servers and lines: PostgreSQL, sshd, webhooks, raw requests, lines that can be cut."""
