"""Share claims and the roster with other hosts through PostgreSQL.

Enters: an address to join, commands on shared items.
Leaves: answers of the shared ledger, and our mirror of it.
"""
