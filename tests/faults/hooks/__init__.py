"""A short campaign on the installed hook line."""
