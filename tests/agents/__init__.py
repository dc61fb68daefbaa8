"""The adapters of coding agents, and what they share."""
