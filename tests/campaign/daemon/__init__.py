"""Campaigns on a real daemon: kills, restarts, upgrades, clocks, long silence."""
