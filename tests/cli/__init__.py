"""The command line as a whole, in real processes."""
