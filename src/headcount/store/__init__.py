"""The outside that remembers: rows and a journal in one SQLite file."""
