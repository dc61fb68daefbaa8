"""A fleet of daemons on one PostgreSQL."""
