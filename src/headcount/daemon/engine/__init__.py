"""The loop that decides and stores, and what belongs to it: recovery, deaths, observers, watchdog.

Enters: evidence and requests.
Leaves: committed events, answers, effects.
"""
