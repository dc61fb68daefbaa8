"""The SQLite store: schema, threads, faults, damage."""
