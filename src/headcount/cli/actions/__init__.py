"""What verbs do beside asking the daemon: terminals, git, systemd, ssh, settings files.

Enters: what a verb was asked to do.
Leaves: what was done, or why not.
"""
