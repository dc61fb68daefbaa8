"""docs/campaign.md: a line for each campaign first, then one section each, written by the campaign itself."""

from pathlib import Path

from bench.figure import table
from bench.sections import Section, carried, with_section, with_table
from tests.campaign.outcome import Line, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "campaign.md"

HEAD = """# Campaigns

Written by the campaigns themselves: `make campaign` for all, `python -m tests.campaign NAME --full --seed S` for
one. A short version of each is in the gate (`tests/faults/`). Each runs the naive way beside ours: a campaign in which
the control does not fail has proved nothing.
"""
LINE_HEAD = ["campaign", "how much", "promises kept", "controls failed", "seconds", "repeat by"]


def write(outcome: Outcome, command: str, seconds: float, place: Path = PAGE) -> None:
    text = place.read_text() if place.exists() else HEAD
    section = Section(
        outcome.name,
        outcome.title,
        body=outcome.lines(),
        notes=outcome.notes,
        command=command,
        seconds=seconds,
        carries=(outcome.line(command, seconds),),
    )
    place.parent.mkdir(exist_ok=True)
    place.write_text(summed_up(with_section(text, section)))


def summed_up(text: str) -> str:
    return with_table(text, "summary", "All of them", summary(carried(text, Line)))


def summary(lines: list[Line]) -> list[str]:
    return table(LINE_HEAD, [each.cells() for each in lines])
