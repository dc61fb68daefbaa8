"""Report once which sessions a reboot ended, and how to continue each.

Rules
  1. On stderr, beside the answer: a pipe gets the table alone.
  2. Told to a person once. Inside an agent nothing is told: the news is for whoever may say that it was heard.

Not here: who may say so (the daemon decides).
"""

from typing import TYPE_CHECKING

from headcount.clean_text import clean, command, said
from headcount.cli import output
from headcount.client.daemon_access import DaemonAccess
from headcount.client.faults import ClientFault
from headcount.present.session_words import SHORTEST_ID, agent_name

if TYPE_CHECKING:
    from headcount.wire.views import Rebooted, SessionRow

SHOWN_MOST = 20


def tell_once(client: DaemonAccess) -> None:
    try:
        answer: Rebooted = client.post("/v1/reboot/told")
    except ClientFault:  # an agent, or a daemon of another version: not ours to hear
        return
    for line in lines_of(answer.get("sessions") or []):
        output.note(line)


def lines_of(sessions: "list[SessionRow]") -> list[str]:
    """`7 ended by reboot:`, and a line for each."""
    if not sessions:
        return []
    lines = [f"{len(sessions)} ended by reboot:"]
    lines += [f"  {_one(raw)}" for raw in sessions[:SHOWN_MOST]]
    if len(sessions) > SHOWN_MOST:
        lines.append(f"  and {len(sessions) - SHOWN_MOST} more: headcount ps --all")
    return lines


def _one(raw: "SessionRow") -> str:
    who = f"{clean(raw.get('id'))[:SHORTEST_ID]} {said(raw.get('name')) or agent_name(raw)}"
    return f"{who}: {resume_of(raw) or 'its agent knows no way to go on with it'}"


def resume_of(raw: "SessionRow") -> str:
    """The command, with the directory that it must be run in."""
    resume, cwd = clean(raw.get("resume")), raw.get("cwd")
    if not resume or not isinstance(cwd, str) or not cwd:
        return resume
    return f"{command('cd', cwd)} && {resume}"
