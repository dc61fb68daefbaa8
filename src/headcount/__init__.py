"""Headcount: which coding agents on this machine are alive, and what each is doing."""

__version__ = "0.1.0"
