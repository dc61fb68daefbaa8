"""Campaigns on who may do what, planted files and secrets."""
