"""Campaigns on reused pids: no wrong verdict and no wrong signal."""
