"""Real agent CLIs from npm, on loopback."""
