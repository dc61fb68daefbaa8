"""Find what ended sessions left: processes, panes, worktrees, records.

Enters: a death, or a person who asks.
Leaves: evidence about leftovers.
"""
