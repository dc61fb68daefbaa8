"""Pure rules: no IO, no clock, no async, no logger.

Enters: evidence, requests and the time, as values.
Leaves: events to store, effects to run, answers.
"""
