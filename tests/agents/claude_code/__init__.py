"""Claude Code: processes, hooks, registry, transcripts."""
