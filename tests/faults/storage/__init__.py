"""Short campaigns on the store, and power cuts."""
