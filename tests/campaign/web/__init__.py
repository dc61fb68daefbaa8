"""Campaigns on the HTTP port: foreign headers, slow senders, floods."""
