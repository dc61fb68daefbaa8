"""Campaigns on the installed hook line: silent and in time, whatever is broken."""
