"""The shared PostgreSQL database of a fleet."""
