"""Processes: one port, an adapter for Linux and a portable one."""
