"""A file system that hangs: claims of its paths are refused in time, and nothing else is kept waiting.

Rules of this file
  1. The hang is a `realpath` that does not come back for one directory, put into the real daemon when its
     interpreter starts; as a mount that is away, it holds a thread in the kernel and cannot be interrupted.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.bounded_thread import BoundedThreads, Late
from tests.rig.agents.commands_inside import outside
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.leftovers.checkouts_and_records import examined

AWAY = "/mnt/away"
HANGS = f"""
import os, time
right = os.path.realpath
def realpath(path, **how):
    while str(path).startswith("{AWAY}") and not os.path.exists(os.environ["BACK"]):
        time.sleep(0.05)
    return right(path, **how)
os.path.realpath = realpath
really = os.stat
def stat(path, **how):
    while str(path).startswith("{AWAY}/held") and not os.path.exists(os.environ["BACK"]):
        time.sleep(0.05)
    return really(path, **how)
os.stat = stat
"""


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Daemon]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(HANGS)
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    with Daemon(tmp_path / "headcount", PYTHONPATH=path, BACK=str(tmp_path / "back")) as daemon:
        yield daemon


def claim(daemon: Daemon, item: str) -> tuple[int, str]:
    answer = daemon.call("POST", "/v1/claims", {"item": item, "own": True})
    return answer.status, "" if answer.status == 200 else answer.data["error"]["code"]


def test_a_claim_on_a_hung_mount_is_refused_and_all_others_go_on(office: Daemon, tmp_path: Path) -> None:
    found: list[tuple[int, str]] = []
    askers = [
        threading.Thread(target=lambda: found.append(claim(office, f"path:{AWAY}/x"))) for _ in range(12)
    ]
    for each in askers:
        each.start()
    answered = 0
    while any(each.is_alive() for each in askers):  # twice as many hang as the loop has threads of its own
        assert claim(office, "task:A")[0] == 200 and claim(office, f"path:{tmp_path}/y")[0] == 200
        assert office.get("/v1/sessions")["sessions"] is not None
        answered += 1
    assert found == [(503, "path-hangs")] * 12 and answered > 1
    said = outside(office, "claims", "--history", f"path:{AWAY}/x")
    assert said.code == 4 and "did not answer" in said.err
    assert any("does not answer" in each for each in office.get("/v1/status")["warnings"])


def test_a_daemon_with_hung_looks_stops_and_one_whose_mount_is_back_claims_again(
    office: Daemon, tmp_path: Path
) -> None:
    assert claim(office, f"path:{AWAY}/x") == (503, "path-hangs")
    (tmp_path / "back").touch()
    deadline = time.monotonic() + 10
    while office.get("/v1/status")["warnings"]:
        assert time.monotonic() < deadline
    assert claim(office, f"path:{AWAY}/x")[0] == 200
    (tmp_path / "back").unlink()
    assert claim(office, f"path:{AWAY}/y") == (503, "path-hangs")
    assert office.process is not None
    office.process.terminate()
    assert office.process.wait(10) == 0, "a thread that hangs keeps no daemon from ending"


def test_an_end_in_a_hung_checkout_is_told_and_the_daemon_stops(
    office: Daemon, agent: Callable[..., Agent]
) -> None:
    claude = agent()
    claude.hook(office.mailbox, "SessionStart", source="startup", cwd=f"{AWAY}/held")
    id = office.session(conversation=claude.conversation)["id"]
    eventually(lambda: office.sessions(id=id)[0]["cwd"] == f"{AWAY}/held")
    claude.kill()
    assert examined(office, id)["left"] == {}
    assert office.process is not None
    office.process.terminate()
    assert office.process.wait(10) == 0, "no thread that looks for what was left keeps it from ending"


async def test_a_look_gives_what_it_finds_raises_what_it_raises_and_is_bounded() -> None:
    looks, back = BoundedThreads("look", most=2), threading.Event()
    assert await looks.ask(lambda: 7, 5) == 7
    with pytest.raises(ZeroDivisionError):
        await looks.ask(lambda: 1 // 0, 5)
    for _ in range(2):
        with pytest.raises(Late):
            await looks.ask(back.wait, 0.01)
    assert looks.hanging == 2
    with pytest.raises(Late):
        await looks.ask(lambda: 7, 5)  # refused without a thread
    back.set()
    async with asyncio.timeout(10):
        while looks.hanging:
            await asyncio.sleep(0.01)
    assert await looks.ask(lambda: 7, 5) == 7
