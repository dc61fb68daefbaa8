"""The remembered world and its drafts."""
