"""The routes: one file a feature, one table of all of them (table.py)."""
