"""The loop: batches, commits, failures, recovery, broadcast."""
