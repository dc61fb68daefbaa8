"""The command line: draws what the wire says and has no rights of its own."""
