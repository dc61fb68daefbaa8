"""What goes over the wire: pure message types, exit codes, versions. Knows nothing of the core."""
