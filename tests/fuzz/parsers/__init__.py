"""Targets: one file for each kind of foreign bytes."""
