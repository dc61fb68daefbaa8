"""Claiming processes, ledgers, and checkers of recorded histories."""
