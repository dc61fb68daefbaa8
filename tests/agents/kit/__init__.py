"""Rules that all adapters share, on what each agent wrote."""
