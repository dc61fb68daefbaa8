"""The page of campaigns: its first table is made of what the sections carry, whenever they were written."""

from pathlib import Path

from tests.campaign import page
from tests.campaign.outcome import Outcome, Row, none, some


def outcome(name: str, lost: int, caught: int, *more: Row) -> Outcome:
    rows = (Row("kills", "500"), none("ours: lost", lost), some("control, naive: lost", caught), *more)
    return Outcome(name, f"Title of {name}", rows, ("a note",))


def test_a_campaign_appears_once_in_the_summary_and_once_below(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "campaign.md"
    page.write(outcome("kills", lost=3, caught=9), "python -m x kills --full", 1.0, path)
    page.write(outcome("cuts", lost=0, caught=0), "python -m x cuts --full", 2.0, path)
    page.write(outcome("kills", lost=0, caught=9), "python -m x kills --full --seed 7", 3.4, path)
    text = path.read_text()
    assert text.startswith(page.HEAD.rstrip())
    top = text[: text.index("<!-- kills -->")]
    assert "| Title of kills | 500 kills | 1 of 1 | 1 of 1 | 3 | `python -m x kills --full --seed 7` |" in top
    assert "| Title of cuts | 500 kills | 1 of 1 | **0 of 1** | 2 | `python -m x cuts --full` |" in top
    assert top.count("Title of kills") == top.count("Title of cuts") == 1
    assert text.count("## Title of kills") == text.count("## Title of cuts") == 1


def test_the_page_that_is_kept_is_as_its_sections_say() -> None:
    text = page.PAGE.read_text()
    assert page.summed_up(text) == text
    assert text.count("<!-- carries ") == text.count("\n## ") - 1, "all but the table itself"
