"""The daemon as a whole, with real processes."""
