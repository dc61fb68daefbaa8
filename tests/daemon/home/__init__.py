"""The daemon's home: one instance, planted or removed files, upgrades."""
