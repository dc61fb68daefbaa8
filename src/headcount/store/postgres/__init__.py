"""The shared database: PostgreSQL. Imported only by a daemon that has joined a fleet."""
