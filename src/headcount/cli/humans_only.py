"""Verbs for people: refused to a caller inside an agent, also where no daemon can be asked.

Rules
  1. The daemon's rule (daemon/identity/caller.py) is applied here as well: with another HEADCOUNT_HOME there may be no
     daemon, or one that knows nothing. An agent is above us if a recognised program is an ancestor, or if its marks are in
     our environment or in an ancestor's.
  2. A daemon that answers is asked too: it knows sessions by more than their program, and which namespaces it sees.

Not here: the daemon's own check of its routes (daemon/api/permissions.py).
"""

import os
from typing import TYPE_CHECKING

from headcount.clean_text import clean
from headcount.cli import output
from headcount.client.faults import ClientFault
from headcount.wire import exit_codes

if TYPE_CHECKING:
    from headcount.wire.views import Me


class ForPeople(ClientFault):
    exit_code = exit_codes.REFUSED


def refuse_agents(verb: str) -> None:
    from headcount.client import claims

    refuse_below_agents(verb)
    try:
        me: Me = claims.ask(output.client(autostart=False), claims.who_am_i(explain=True))
    except ClientFault:
        return  # nobody to ask
    if me.get("session"):
        raise _inside(f"agent {clean(me['session'])[:4]}", verb)
    if me.get("kind") == "nobody":
        why = clean(me.get("refusal"))
        raise ForPeople(
            f"Headcount cannot tell whether an agent started you ({why}); {verb} is for people.",
            clean(me.get("way_out")) or None,
        )


def refuse_below_agents(verb: str) -> None:
    """By what is seen from here alone, for verbs that the daemon checks itself when it can see who asks."""
    found = _agent_above()
    if found is not None:
        raise _inside("an agent", verb, found)


def _inside(whom: str, verb: str, hint: str | None = None) -> ForPeople:
    return ForPeople(f"You are inside {whom}; {verb} is for people. Use a shell outside it.", hint)


def _agent_above() -> str | None:
    """How it is seen that an agent started us; None: it is not."""
    import asyncio

    from headcount.agents.catalog import AGENTS
    from headcount.agents.kit.programs import NAMES
    from headcount.system.processes.ancestry import ancestors
    from headcount.system.processes.choose import open_processes

    marks = NAMES.union(*(agent.marks for agent in AGENTS.values()))
    own = next((mark for mark in sorted(marks) if os.environ.get(mark)), None)
    if own is not None:
        return f"({own} is set here.)"
    loop = asyncio.new_event_loop()
    processes = open_processes(loop)
    try:
        for facts in (each for each in ancestors(processes, os.getpid()) if each.uid == os.getuid()):
            agent = AGENTS.agent_of(facts)
            if agent is not None:
                return f"(pid {facts.pid} above this shell is {agent.label}.)"
            carried = processes.environ(facts.identity, marks)
            if carried:
                return f"({min(carried)} is set in pid {facts.pid}, which started this shell.)"
    finally:
        processes.close()
        loop.close()
    return None
