"""What comes in: mailbox, registries, census, edited paths."""
