"""Short campaigns on the HTTP port."""
