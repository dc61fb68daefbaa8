"""Wishes: what a Python program asks for, looked at before anything is sent, and what it is told in its own words.

Rules of this file
  1. What makes no sense is refused as `WrongCall` here: not as whatever fails first somewhere inside.
  2. The next step of a refusal is a call or an argument, not a shell's command.

Not here: what an item is (core/values/item.py: the daemon says what is wrong with one), the command line's words (cli/).
"""

import os

from headcount import times
from headcount.client.faults import Refused, WrongCall

NOT_AN_AGENT = "not-an-agent"
HOW_TO_HOLD = (
    "To hold it by this process itself: own=True. To act for a live session: acting_as=its name or id. "
    "In a shell: headcount hold ITEM -- CMD"
)


def check_wish(item: object, wait: object, acting_as: object, own: object, **texts: object) -> None:
    """Of a claim: an item, a time to wait, and one holder."""
    check_item(item)
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        raise WrongCall(f"wait is a number of seconds, not {wait!r}.", "For example: wait=600")
    if not 0 <= wait <= times.WAIT_MOST:  # also refuses what is no number (NaN)
        raise WrongCall(
            f"wait is {wait!r}; it is from 0 to {times.WAIT_MOST:.0f} seconds, a day.", "Then ask again."
        )
    if own and acting_as is not None:
        raise WrongCall(
            "own=True and acting_as= name two different holders.",
            "own=True: this process holds it. acting_as=: that session does.",
        )
    for name, text in {"acting_as": acting_as, **texts}.items():
        if text is not None and not isinstance(text, str):
            raise WrongCall(f"{name} is a text or None, not {text!r}.")


def check_item(item: object) -> None:
    if not isinstance(item, str):
        raise WrongCall(f"An item is a text, not {item!r}.", 'For example: "task:AUTH-12"')


def in_python(refused: Refused) -> Refused:
    """The refusal of a claim, with a next step for programs."""
    if refused.code != NOT_AN_AGENT:
        return refused
    return Refused(refused.status, refused.code, refused.message, HOW_TO_HOLD)


def check_here(item: str, asked_by: int) -> None:
    """A claim is of the process that asked; a copy of it, made by fork, holds nothing."""
    if asked_by != os.getpid():
        raise WrongCall(
            f"{item} was claimed by process {asked_by}; this is process {os.getpid()}, which was forked from it.",
            "Only the process that claimed it enters it and gives it back. To hold it here, claim it here.",
        )
