"""Processes in every state, the fake kernel, and scarce or false resources of the kernel."""
