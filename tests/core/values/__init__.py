"""Value types and their tables."""
