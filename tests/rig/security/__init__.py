"""Hostile strings, secrets to look for, planted files, a second user."""
