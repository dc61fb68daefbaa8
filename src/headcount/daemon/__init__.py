"""The daemon: the one place that constructs, the one loop with state, the HTTP edge."""
