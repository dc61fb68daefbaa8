"""Campaigns on the store: crashes, power cuts, failing disks, damaged files."""
