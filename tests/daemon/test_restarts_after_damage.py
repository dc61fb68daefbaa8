"""Starting anew after a damaged store: a few times in a row, and a row ends with a while of health."""

import os
from pathlib import Path

import pytest

from headcount.daemon.main import RESTARTS, RESTARTS_MOST, restarts_before
from headcount.times import WELL_AFTER
from tests.daemon.engine.test_recovery_after_store_loss import break_schema, say
from tests.rig.daemon.altered import WRAPPER, environment
from tests.rig.daemon.real_daemon import Daemon, eventually


@pytest.mark.parametrize(
    ("said", "served", "before"),
    [("2", 0.0, 2), ("2", WELL_AFTER, 0), (None, 0.0, 0), ("", 0.0, 0), ("x", 0.0, 0), ("-1", 0.0, 0)],
)
def test_a_row_of_restarts_ends_with_a_while_of_health(said: str | None, served: float, before: int) -> None:
    assert restarts_before({} if said is None else {RESTARTS: said}, served) == before


@pytest.mark.parametrize(("well_after", "goes_on"), [(3600.0, False), (0.0, True)])
def test_a_daemon_that_was_well_starts_anew_again_and_one_in_a_row_of_broken_starts_ends(
    tmp_path: Path, well_after: float, goes_on: bool
) -> None:
    """The control is the same daemon to which no time is long enough."""
    env = {**environment(WELL_AFTER=well_after), RESTARTS: str(RESTARTS_MOST)}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (env["PYTHONPATH"], os.environ.get("PYTHONPATH"))))
    daemon = Daemon(tmp_path / "headcount", **env)
    daemon.start(WRAPPER)
    try:
        break_schema(daemon.home / "headcount.db")
        say(daemon, "any")
        if goes_on:
            eventually(lambda: list(daemon.home.glob("headcount.db.corrupt-*")))
            assert daemon.process is not None and daemon.process.poll() is None
        else:
            assert daemon.process is not None and daemon.process.wait(20) == 0
            assert "damaged 3 times in a row" in daemon.log()
    finally:
        daemon.stop()
