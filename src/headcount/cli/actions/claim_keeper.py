"""Keeping a claim while a command runs: told by the event stream, sure by asking.

Rules
  1. Listen first, check afterwards, so that a loss cannot fall between.
  2. Only the ledger's word that the number is stale ends the command. A daemon that is away, or restarts,
     says nothing about the claim. One that was lost with the store was taken away by nobody: that is said, and the
     command goes on.
  3. A command that has ended lost nothing: its holder gives the claim back, and the stream tells us of that too.
  4. The command is a child that we have not reaped: its handle cannot mean another process.

Not here: who may take a claim away (the daemon), running the command (commands/hold.py).
"""

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from headcount import times
from headcount.clean_text import said_item
from headcount.client import claims
from headcount.client.daemon_access import DaemonAccess, reach
from headcount.client.faults import ClientFault, Refused
from headcount.system.libc import call

if TYPE_CHECKING:
    from headcount.wire.views import CheckAnswer

OVER = "claim.released"
PR_SET_PDEATHSIG = 1
SIGTERM = 15
BY_SIGNAL = 128  # as shells report a death by a signal


class Keeper:
    """A thread that follows the stream and ends the child when its claim is lost."""

    def __init__(self, item: str, fence: int, child: "subprocess.Popen[bytes]") -> None:
        self._item = item
        self._fence = fence
        self._child = child
        self._lost_with_store = False
        self._client: DaemonAccess = reach(os.environ, autostart=False)

    def start(self) -> None:
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def _keep(self) -> None:
        while self._child.poll() is None:
            try:
                if self._is_lost():
                    self._end_what_runs()
                    return
            except ClientFault:
                time.sleep(times.HOLD_LOOKS_AGAIN)  # the daemon is away; whoever comes back knows the claim

    def _is_lost(self) -> bool:
        """Returns when it is certain; a stream that breaks is a fault, and one looks again."""
        for event in self._client.events():
            told = event.type == "snapshot" or (event.type == OVER and self._names_us(event.data))
            if told and self._is_stale():
                return True
            if self._child.poll() is not None:
                return False
        return False

    def _names_us(self, data: str) -> bool:
        return bool(json.loads(data).get("item") == self._item)

    def _is_stale(self) -> bool:
        try:
            answer: CheckAnswer = claims.ask(self._client, claims.check(self._item, self._fence))
        except Refused:
            return False
        self._lost_with_store = answer.get("lost") is True
        return answer.get("current") is False

    def _end_what_runs(self) -> None:
        if self._child.poll() is not None:
            return
        claim = f"{said_item(self._item)} (claim #{self._fence})"
        if self._lost_with_store:
            what = f"{claim} is not known any more: the store was lost. The command goes on without it."
            print(f"headcount: {what}", file=sys.stderr, flush=True)
            return
        print(f"headcount: {claim} was taken away; ending the command.", file=sys.stderr, flush=True)
        self._child.terminate()


def end_with(holder: int) -> None:
    """In the child, before its program: the kernel ends it when its holder dies, since the claim ends then."""
    try:
        call("prctl", PR_SET_PDEATHSIG, SIGTERM)
    except OSError:
        return  # not Linux: the docs say that such a command may outlive its holder
    if os.getppid() != holder:
        os._exit(BY_SIGNAL + SIGTERM)  # it died before the kernel was told
