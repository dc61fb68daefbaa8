"""Rows and explanations that the wire shows."""
