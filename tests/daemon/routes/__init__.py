"""Routes on a real daemon."""
