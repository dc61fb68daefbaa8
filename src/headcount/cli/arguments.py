"""The arguments of all verbs, for type checkers: what `run` of a command finds in the namespace that it is given.

Rules
  1. A verb has those that its add_arguments names; tests/rules/test_arguments.py compares them with the parsers.
  2. One name has one type in all verbs. What may be missing is `| None`.
  3. Imported for type checking only.

Not here: what an argument means (commands/), parsing (options.py).
"""

from typing import Literal


class VerbArguments:
    json: bool
    # whom and what
    session: str
    only: str | None
    sessions: list[str]
    item: str
    fence: int | None
    to: str
    acting_as: str | None
    action: str
    what: str
    # looking
    all: bool
    wide: bool
    fleet: bool
    host: str | None
    where: str | None
    lines: int
    pane: bool
    n: int
    since: float | None
    after: int | None
    type: str | None
    follow: bool
    once: bool
    until: frozenset[str]
    timeout: float | None
    explain: bool
    bundle: str | Literal[True] | None  # True: a file whose name is made up
    paths: bool
    # claims
    wait: str | None
    note: str | None
    until_empty: bool
    force: bool
    yes: bool
    history: str | None
    accept_loss: bool
    command: list[str]
    # ending
    kind: str | None
    pid: list[int] | None
    id: list[str] | None
    kill_after: float | None
    close_window: bool
    # starting agents
    name: str | None
    role: str | None
    group: list[str]
    agent: str | None
    anyway: bool
    tmux: str | None
    window: bool
    launched_by: str | None
    print: bool
    # settings of agents and of this machine
    context: bool
    guard: bool
    dry_run: bool
    install: bool
    uninstall: bool
    strict: bool
    hook: str | None
    rest: list[str]
    address: str | None
    foreground: bool
    close: bool
    seconds: float
    shell: str
    words: bool
