"""The link to the page, as a person's shell gets it: outside every agent, even if an agent runs the tests."""

from pathlib import Path

from tests.rig.agents.callers import Errand, Request, detached
from tests.rig.daemon.real_daemon import Daemon


def link(daemon: Daemon, directory: Path) -> str:
    return links(daemon, directory)[0]


def links(daemon: Daemon, directory: Path) -> tuple[str, str | None]:
    """The link, and the same at 127.0.0.1 where the page is served there."""
    (answer,) = detached(Errand(directory, daemon.socket, [Request("POST", "/v1/web", {})]))
    assert answer.status == 200, answer
    return str(answer.data["url"]), answer.data["plain_url"]
