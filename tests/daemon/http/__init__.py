"""Sockets and HTTP: listening, requests, limits, the page's port."""
