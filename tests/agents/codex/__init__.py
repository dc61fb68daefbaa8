"""Codex: processes, hooks, rollouts."""
