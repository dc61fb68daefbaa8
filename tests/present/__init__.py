"""Words, rows and tables that people read, and that hostile text in them does no harm."""
