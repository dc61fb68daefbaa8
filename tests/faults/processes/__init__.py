"""Short campaigns on reused pids."""
