"""The page of the bench: sections are replaced one by one, and the ratios at its top are those of the sections."""

from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import page
from bench.__main__ import FIGURES
from bench.figure import Figure, Ratio, Row
from bench.plot import BLUE, Axis, Curve, Line, chart, cumulative, plain, plot, tens


def figure(name: str, better: float, met: bool | None = True) -> Figure:
    ratio = Ratio(f"what {name} is -- about", "3 ms", "polling: 2,500 ms", better, "100 ms", met)
    drawn = chart("t", Axis("x", 0, 1), Axis("y", 0, 1), [Curve("c", [(0, 0), (1, 1)], BLUE)])
    return Figure(
        name,
        f"Title of {name}",
        ("p50",),
        (Row("ours", ("3 ms",)),),
        ("a note",),
        (ratio,),
        ((f"{name}-drawn", drawn),),
    )


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "benchmarks.md"
    path.parent.mkdir()
    page.write(figure("death", 800), 1.0, path)
    page.write(figure("ps", 5), 1.0, path)
    page.write(figure("death", 900), 2.0, path)
    text = path.read_text()
    assert text.count("## Title of death") == text.count("## Title of ps") == 1
    assert "×900" in text and "×800" not in text and "×5.00" in text
    assert text.startswith(page.HEAD.rstrip())


def test_the_ratios_come_first_once_and_mark_missed_targets(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    for _ in range(3):
        page.write(figure("death", 800, met=False), 1.0, path)
        page.write(figure("ps", 5), 1.0, path)
    text = path.read_text()
    assert text.count("## Side by side") == 1 and text.index("## Side by side") < text.index(
        "## Title of death"
    )
    top = text[: text.index("## Title of death")]
    assert top.count("polling: 2,500 ms |") == 2 and "**no**" in top and "-- about" in top


def test_a_picture_is_written_and_shown(tmp_path: Path) -> None:
    page.write(figure("death", 800), 1.0, tmp_path / "benchmarks.md")
    assert "![death-drawn](img/death-drawn.svg)" in (tmp_path / "benchmarks.md").read_text()
    ElementTree.parse(tmp_path / "img" / "death-drawn.svg")


def test_an_old_page_without_ratios_is_converted(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    path.write_text(page.HEAD + "\n<!-- idle -->\n## Idle\n\n| a |\n<!-- /idle -->\n")
    page.write(figure("death", 800), 1.0, path)
    text = path.read_text()
    assert text.index("## Side by side") < text.index("<!-- idle -->") < text.index("<!-- death -->")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_measured_by_its_name(name: str) -> None:
    assert callable(import_module(f"bench.{name}").measure)


def test_a_chart_is_well_formed_whatever_its_names_and_values_are() -> None:
    curves = [Curve("<a> & b", [(0.0, 0.0), (1e-9, 5e12)], BLUE, dashed=True)]
    for x, y in ((tens("<x>", [0.0, 0.3, 4_000]), plain("&", [0.0])), (plain("x", [3.0]), tens("y", [7.0]))):
        drawn = ElementTree.fromstring(chart("<t>", x, y, curves))
        assert drawn.tag.endswith("svg")
    ElementTree.fromstring(plot("t", "hosts", [10.0, 200.0], [Line("l", [0.0, 7.0], BLUE)]))


def test_marks_are_round_numbers() -> None:
    assert plain("x", [356.0]).marks() == [0.0, 100.0, 200.0, 300.0]
    assert tens("x", [0.2, 4_000]).marks() == [0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0]


def test_a_cumulative_share_ends_at_one() -> None:
    points = cumulative([float(nth) for nth in range(1_000)])
    assert points[-1] == (999.0, 1.0) and len(points) < 300
    assert points == sorted(points)
