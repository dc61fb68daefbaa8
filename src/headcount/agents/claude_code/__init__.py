"""Claude Code: its processes, its 33 hook events, its own registry, its transcript, its settings file."""
