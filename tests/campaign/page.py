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
    place.write_text(summed_up(text))


SUMMARY = re.compile(r"<!-- summary -->.*?<!-- /summary -->\n\n", re.DOTALL)
SECTION = re.compile(r"<!-- (\w+) -->\n## (.+?)\n(.*?)<!-- /\1 -->", re.DOTALL)


def summed_up(text: str) -> str:
    """The page with a line for each campaign before all of them, made of what the page says."""
    bare = SUMMARY.sub("", text)
    lines = [
        "| campaign | how much | promises kept | controls failed | seconds | repeat by |",
        "|" + " --- |" * 6,
    ]
    lines += [_line(title, body) for _, title, body in SECTION.findall(bare)]
    head, mark, rest = bare.partition("<!-- ")
    table = "\n".join(lines)
    return f"{head}<!-- summary -->\n## All of them\n\n{table}\n<!-- /summary -->\n\n{mark}{rest}"


def _line(title: str, body: str) -> str:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in body.splitlines()
        if line.startswith("| ")
    ]
    judged = [row for row in rows[2:] if len(row) == 4 and row[3]]
    ours = [row for row in judged if not row[0].startswith("control")]
    controls = [row for row in judged if row[0].startswith("control")]
    how = re.findall(r"- `(.+?)`, (\d+) s; (\S+)", body)
    command, seconds, _ = how[-1] if how else ("", "", "")
    much = f"{rows[2][1]} {rows[2][0]}" if len(rows) > 2 else ""
    return f"| {title} | {much} | {_share(ours)} | {_share(controls)} | {seconds} | `{command}` |"


def _share(rows: list[list[str]]) -> str:
    good = sum(row[3] == "yes" for row in rows)
    return f"{good} of {len(rows)}" if good == len(rows) else f"**{good} of {len(rows)}**"
