"""Verdicts: ALIVE, DEAD or UNKNOWN, because of named evidence.

Rules
  1. DEAD needs a proof: the handle reported the exit, the pid belongs to another incarnation,
     or the boot is over.
  2. Everything that is not a proof is UNKNOWN, and UNKNOWN changes nothing.

Not here: how a kernel is asked (system/processes), what a session makes of it (core/decide.py).
"""

from msgspec import Struct

from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.process import BootAndNamespace, ProcessIdentity


class Standing(FastEnum):
    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


class Proof(FastEnum):
    """The only three ways to be DEAD."""

    EXITED = "exited"  # its handle, or the kernel asked through it, reported the exit
    REPLACED = "replaced"  # the pid now belongs to another incarnation
    REBOOTED = "rebooted"  # the boot it lived in is over


class Exit(Struct, frozen=True):
    """How a process ended, as far as the kernel still says. Both None: nobody can tell any more."""

    code: int | None = None
    signal: int | None = None


class Verdict(Struct, frozen=True):
    standing: Standing
    because: str
    proof: Proof | None = None
    exit: Exit = Exit()
    code: str = ""  # the reason, for programs: stable, while the sentence may change

    def __post_init__(self) -> None:
        if (self.standing is Standing.DEAD) != (self.proof is not None):
            raise ValueError("a verdict is DEAD exactly when there is a proof")


def alive(because: str) -> Verdict:
    return Verdict(Standing.ALIVE, because, code="alive")


def unknown(because: str, code: str = "unknown") -> Verdict:
    return Verdict(Standing.UNKNOWN, because, code=code)


def dead(proof: Proof, because: str, exit: Exit = Exit()) -> Verdict:  # noqa: B008 (frozen value)
    return Verdict(Standing.DEAD, because, proof, exit, proof.value)


def judge_place(identity: ProcessIdentity, here: BootAndNamespace, remembered_machine: str) -> Verdict | None:
    """What can be said of a remembered process before any kernel is asked; None: ask the kernel."""
    if identity.boot != here.boot:
        if remembered_machine == here.machine:
            return dead(Proof.REBOOTED, "the machine was restarted since")
        return unknown("it ran on another machine", "other-machine")
    if identity.namespace != here.namespace:
        return unknown("it lives in another pid namespace", "other-namespace")
    return None
