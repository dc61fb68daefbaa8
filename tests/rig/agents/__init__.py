"""Stand-in agents: harmless processes that look like agents, and ways to run commands inside them."""
