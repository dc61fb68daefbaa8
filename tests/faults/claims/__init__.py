"""Short campaigns on claims."""
