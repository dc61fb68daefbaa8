"""Leftovers on demand: processes, checkouts, registry records."""
