"""The pure rules: no IO, no clock, no async, no logger. Values in, values out."""
