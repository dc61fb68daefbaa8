"""What every store promises, and how values are kept in it."""
