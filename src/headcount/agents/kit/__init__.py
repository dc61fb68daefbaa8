"""Tools that every adapter uses to read what an agent wrote.

Enters: untrusted bytes: files, JSON fields, command lines, environments.
Leaves: checked values, labels without secrets, or nothing.
"""
