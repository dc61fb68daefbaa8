"""Fuzzing of every parser of foreign bytes and of the wire."""
