"""Stand-ins for the models' APIs, on loopback."""
