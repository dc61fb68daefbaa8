"""End processes and close windows, only when asked.

Enters: a verified handle and a person's or policy's request.
Leaves: signals, and what came of them.
"""
