"""Helpers that every adapter uses to read what an agent wrote.

Enters: untrusted bytes: payloads, files, JSON fields, command lines, environments.
Leaves: checked values, labels without secrets, the meaning of an event; or nothing.
"""
