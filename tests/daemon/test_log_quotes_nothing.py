"""The log says where and by what kind of fault something failed, and quotes nothing that was being read."""

import json
import logging
from pathlib import Path

from headcount.daemon.main import open_log

PROMPT = "fix the login of customer 4711"


def test_the_trace_of_a_fault_names_places_and_kinds_and_quotes_nothing(tmp_path: Path) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    open_log(tmp_path / "log")
    try:
        try:
            try:
                {}[PROMPT]
            except KeyError as cause:
                raise ValueError(f"cannot read {PROMPT}") from cause
        except ValueError:
            logging.getLogger("headcount.x").exception("a report could not be read")
        try:
            (tmp_path / "nowhere").read_text()
        except OSError:
            logging.getLogger("headcount.x").exception("a file could not be opened")
    finally:
        root.handlers[0].close()
        root.handlers[:] = before
        root.setLevel(level)
    first, second = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert (
        "KeyError" in first["trace"]
        and "ValueError" in first["trace"]
        and Path(__file__).name in first["trace"]
    )
    assert "4711" not in json.dumps(first)
    assert second["trace"].endswith("FileNotFoundError: No such file or directory")
