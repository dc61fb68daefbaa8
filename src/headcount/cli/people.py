"""What is for people: refused to whoever runs inside an agent, also where no daemon can be asked.

Rules of this file
  1. By the kernel's word where a daemon answers; by the marks that agents leave in any case.

Not here: the daemon's own check of its routes (daemon/authority.py).
"""

import os

from headcount.cli import printing
from headcount.cli.sanitize import clean
from headcount.client.faults import ClientFault
from headcount.wire import codes


class InsideAgent(ClientFault):
    exit_code = codes.REFUSED

    def __init__(self, whom: str, verb: str, hint: str | None) -> None:
        super().__init__(f"You are inside {whom}; {verb} is for people. Use a shell outside it.", hint)


def refuse_agents(verb: str) -> None:
    from headcount.client import ledger

    mark = _agent_mark()
    if mark is not None:
        raise InsideAgent("an agent", verb, f"({mark} is set here.)")
    try:
        me = ledger.ask(printing.client(autostart=False), ledger.who_am_i())
    except ClientFault:
        return  # nobody to ask, or outside every agent
    if me.get("session"):
        raise InsideAgent(f"agent {clean(me['session'])[:4]}", verb, None)


def _agent_mark() -> str | None:
    from headcount.agents.table import AGENTS

    marks = sorted(mark for agent in AGENTS.values() for mark in agent.marks)
    return next((mark for mark in marks if os.environ.get(mark)), None)
