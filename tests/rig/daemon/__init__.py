"""Real daemons for tests, altered ones, and single parts of a daemon."""
