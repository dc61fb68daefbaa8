"""Lifelines: what living sessions hang on, and what people hang on. It is nobody's leftover and is not ended as one.

Rules
  1. Whoever stands above the process of an open session may take it along: a `timeout`, a shell, a supervisor.
  2. Upwards every step is proved; that is what a signal asks. Downwards is only seen, since a child may be missed;
     that is enough to leave something out of a list.
  3. A terminal server outlives whoever started it, and what people open in it later is not a session's.

Not here: refusing (daemon/ending/signal_process.py, daemon/ending/tmux_windows.py), listing (search.py, descendants.py).
"""

from collections.abc import Callable, Iterable

from headcount.core.values.process import Match, ProcessFacts, ProcessIdentity, same_process
from headcount.core.values.session import Session
from headcount.system.processes.ancestry import above
from headcount.system.processes.interface import Processes

TERMINALS = ("tmux: server", "screen", "SCREEN", "zellij", "dtach", "abduco")
BELOW_MOST = 512  # processes below one; beyond them it is not known what else there is

Lifelines = dict[ProcessIdentity, list[Session]]


def lifelines(processes: Processes, sessions: Iterable[Session]) -> Lifelines:
    """Whoever stands above an open session's process, with the sessions below it. For a thread."""
    found: Lifelines = {}
    for session in sessions:
        facts = _look_again(processes, session.process) if session.process is not None else None
        for each in above(processes, facts) if facts is not None else ():
            found.setdefault(each.identity, []).append(session)
    return found


def stands_above_one(
    processes: Processes, process: ProcessIdentity, is_agent: Callable[[ProcessFacts], bool]
) -> bool:
    """Whether an agent is seen below it; also when there is more below it than was looked at."""
    todo, looked = [process], 0
    while todo:
        for pid in processes.children(todo.pop()):
            facts = processes.look(pid)
            looked += 1
            if looked > BELOW_MOST or (isinstance(facts, ProcessFacts) and is_agent(facts)):
                return True
            if isinstance(facts, ProcessFacts):
                todo.append(facts.identity)
    return False


def is_terminal(facts: ProcessFacts) -> bool:
    return facts.comm.startswith(TERMINALS)


def is_in_a_terminal(processes: Processes, process: ProcessIdentity) -> bool:
    """It is a terminal server, or has one above it."""
    facts = _look_again(processes, process)
    return facts is not None and (is_terminal(facts) or any(map(is_terminal, above(processes, facts))))


def _look_again(processes: Processes, process: ProcessIdentity) -> ProcessFacts | None:
    facts = processes.look(process.pid)
    if isinstance(facts, ProcessFacts) and same_process(facts.identity, process) is Match.SAME:
        return facts
    return None
