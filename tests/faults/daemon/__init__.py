"""Short campaigns on a real daemon."""
