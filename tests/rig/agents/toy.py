"""The toy agent of docs/adapters.md: its adapter is the page's own text.

Not here: its process (open_conversations.py).
"""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "adapters.md"


def source() -> str:
    """The adapter as the page has it."""
    match = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return match.group(1)


def adapter() -> Any:
    names: dict[str, Any] = {}
    exec(compile(source(), "headcount_toy", "exec"), names)
    return names["Toy"]()


def package(place: Path, entry: str = "toy = headcount_toy:Toy", text: str | None = None) -> Path:
    """The page's package as an installer would leave it in a directory on the path."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "headcount_toy.py").write_text(source() if text is None else text)
    info = place / "headcount_toy-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: headcount-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[headcount.agents]\n{entry}\n")
    return place
