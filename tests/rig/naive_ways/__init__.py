"""Negative controls: how earlier tools did it, and daemons that are broken on purpose."""
