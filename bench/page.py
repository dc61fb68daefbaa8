"""docs/benchmarks.md: the ratios first, then one section a figure, written by the bench itself.

Rules of this file
  1. A section carries its ratios; without any there is no table of them.

Not here: what is measured, how a page is put together (sections.py).
"""

from pathlib import Path

from bench.figure import Figure, Ratio, table
from bench.sections import Section, carried, with_section, with_table, without_table

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by the bench itself: `make bench` for all, `python -m bench NAME` for one. Every figure stands beside its
alternative, measured in the same run; ratios travel between machines, digits do not. Targets are those of the
project; what fell short says so.
"""
RATIOS = "ratios"
RATIO_HEAD = ["", "ours", "the alternative", "times better", "target", "met"]


def write(figure: Figure, seconds: float, page: Path = PAGE) -> None:
    pictures = page.parent / "img"
    pictures.mkdir(parents=True, exist_ok=True)
    for name, drawn in figure.pictures:
        (pictures / f"{name}.svg").write_text(drawn)
    text = page.read_text() if page.exists() else HEAD
    page.write_text(_with_ratios(with_section(text, _section(figure, seconds))))


def _section(figure: Figure, seconds: float) -> Section:
    pictures = [line for name, _ in figure.pictures for line in ("", f"![{name}](img/{name}.svg)")]
    return Section(
        figure.name,
        figure.title,
        body=[*figure.lines(), *pictures],
        notes=figure.notes,
        command=f"python -m bench {figure.name}",
        seconds=seconds,
        carries=figure.ratios,
    )


def _with_ratios(text: str) -> str:
    ratios = carried(text, Ratio)
    if not ratios:
        return without_table(text, RATIOS)
    return with_table(text, RATIOS, "Side by side", table(RATIO_HEAD, [each.cells() for each in ratios]))
