"""Codex: how its processes, files and hooks become reports."""
