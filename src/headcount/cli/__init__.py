"""The command line: shows what the wire says and has no rights of its own.

Enters: arguments.
Leaves: lines or JSON on standard output, an exit code.
"""
