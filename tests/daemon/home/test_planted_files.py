"""A daemon whose files were replaced by links and pipes before it started: it takes them away, or says why it does not start."""

from pathlib import Path

import pytest

from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.network.raw_requests import exchange, hook
from tests.rig.security.plant_files import Bait, plant

REPORT = b'{"session_id": "planted", "hook_event_name": "SessionStart"}'


@pytest.fixture
def bait(tmp_path: Path) -> Bait:
    return Bait(tmp_path)


@pytest.mark.parametrize("place", ["mailbox", "mailbox/codex", "log"])
def test_a_directory_that_leads_elsewhere_is_refused_in_words_and_what_is_there_stays(
    tmp_path: Path, bait: Bait, place: str
) -> None:
    """What cannot be read in a mailbox is removed: one that led to documents would have emptied them."""
    daemon = Daemon(tmp_path / "home")
    plant(daemon.home, place, "a link to a directory", bait)
    daemon.start()
    try:
        assert daemon.word.startswith("failed: ") and "leads elsewhere" in daemon.word
        assert bait.is_unharmed
    finally:
        daemon.stop()


def test_tokens_that_lead_elsewhere_are_not_tidied_up(tmp_path: Path, bait: Bait) -> None:
    """A start removes token files that nobody has; through a link it would have removed whatever is there."""
    daemon = Daemon(tmp_path / "home")
    plant(daemon.home, "tokens", "a link to a directory", bait)
    with daemon:
        assert bait.is_unharmed


@pytest.mark.parametrize("place", ["headcount.db", "mailbox/.listening", "log/headcount.log"])
def test_a_pipe_in_the_place_of_a_file_holds_no_start_up(tmp_path: Path, bait: Bait, place: str) -> None:
    daemon = Daemon(tmp_path / "home")
    plant(daemon.home, place, "a pipe", bait)
    with daemon:
        assert exchange(daemon.socket, hook(REPORT)).status == 202


def test_a_pipe_in_the_place_of_the_fleets_settings_is_said(tmp_path: Path, bait: Bait) -> None:
    daemon = Daemon(tmp_path / "home")
    plant(daemon.home, "fleet.json", "a pipe", bait)
    with daemon:
        assert "plain file" in daemon.get("/v1/fleet")["fault"]


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("log/headcount.log", "a link to a file"),
        ("mailbox/.listening", "a link to nothing"),
        ("headcount.db-shm", "a second name of a file"),
    ],
)
def test_nothing_is_written_through_what_lies_in_the_place_of_a_file(
    tmp_path: Path, bait: Bait, place: str, kind: str
) -> None:
    daemon = Daemon(tmp_path / "home")
    plant(daemon.home, place, kind, bait)
    with daemon:
        Door(daemon, tmp_path / "errands").log_in()
        assert exchange(daemon.socket, hook(REPORT)).status == 202
    assert bait.is_unharmed
