"""The Python clients: connection, start of the daemon, claims, forks, sandboxes."""
