"""Short campaigns on rights, planted files and secrets."""
