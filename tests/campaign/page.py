"""docs/campaign.md: one section a campaign, written by the campaign itself."""

import re
from pathlib import Path

from tests.campaign.outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "campaign.md"

HEAD = """# Campaigns

Written by the campaigns themselves: `make campaign` for all, `python -m tests.campaign NAME --full --seed S` for one. A short version of each is in the gate (`tests/faults/`). Each runs the naive way beside ours: a campaign in which
the control does not fail has proved nothing.
"""


def write(outcome: Outcome, how: str, place: Path = PAGE) -> None:
    text = place.read_text() if place.exists() else HEAD
    notes = "".join(f"- {note}\n" for note in (*outcome.notes, how))
    section = (
        f"<!-- {outcome.name} -->\n## {outcome.title}\n\n"
        + "\n".join(outcome.lines())
        + f"\n\n{notes}<!-- /{outcome.name} -->\n"
    )
    marker = re.compile(rf"<!-- {outcome.name} -->.*?<!-- /{outcome.name} -->\n", re.DOTALL)
    text = (
        marker.sub(lambda _: section, text) if marker.search(text) else text.rstrip("\n") + "\n\n" + section
    )
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
