"""Drift: events and fields of an agent that no table of ours knows.

Rules
  1. Unknown is counted and harmless; `doctor` shows it.
  2. Looking costs a second read of the payload, so each kind of event is looked at seldom.
  3. Names come from outside: how many are kept is bounded.
"""

from collections import Counter

from headcount.agents.interface import Agent

NAMES_MOST = 200
SIZE_MOST = 256 * 1024  # bytes; all names of a payload are read to find the new ones
LOOK_AT_EVERY = 200  # of each kind of event, the first and then every so many


class UnknownEvents:
    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def see(self, agent: Agent, event: str, payload: bytes) -> None:
        kind = f"{agent.name}:{event}"
        if kind not in self._seen and len(self._seen) >= NAMES_MOST:
            return
        self._seen[kind] += 1
        if self._seen[kind] % LOOK_AT_EVERY == 1 and len(payload) <= SIZE_MOST:
            for name in agent.unknown_fields(payload):
                self.count(name)

    def count(self, name: str) -> None:
        if name in self.unknown or len(self.unknown) < NAMES_MOST:
            self.unknown[name] += 1
