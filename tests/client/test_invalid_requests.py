"""What a program asks for: nonsense is refused before it is sent, and a refusal names a next step for programs."""

import asyncio
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import headcount
from headcount import times
from headcount.client.claims import item_here
from headcount.client.faults import ClientFault, NotFound, Refused, Unavailable, WrongCall
from headcount.client.values import Claim, HeldByAnother, claim_fields
from tests.client.scripted_server import WireServer, answer
from tests.rig.agents.commands_inside import MARKS, environment, settled, shell
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

MakeAgent = Callable[..., Agent]
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="callers are known by Linux's /proc")

NONSENSE: list[dict[str, Any]] = [
    {"item": None},
    {"item": 12},
    {"item": b"task:A"},
    {"wait": "abc"},
    {"wait": None},
    {"wait": True},
    {"wait": -1},
    {"wait": 1e12},
    {"wait": float("inf")},
    {"wait": float("nan")},
    {"wait": times.WAIT_MOST + 1},
    {"note": 5},
    {"acting_as": 5, "own": False},
    {"request": 5},
    {"acting_as": "auth-refactor"},  # with own: two holders
]


@pytest.mark.parametrize("given", NONSENSE, ids=str)
async def test_what_makes_no_sense_is_said_and_nothing_is_sent(tmp_path: Path, given: dict[str, Any]) -> None:
    wish = {"item": "task:A", "own": True, **given}
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer({})) as server:
        with headcount.Client(str(tmp_path), autostart=False) as client, pytest.raises(WrongCall) as wrong:
            client.claim(**wish)
        async with headcount.AsyncClient(str(tmp_path), autostart=False) as aio:
            with pytest.raises(WrongCall) as likewise:
                await aio.claim(**wish)
        assert server.requests == []
    assert any(name in wrong.value.message for name in (*given, "An item"))
    assert likewise.value.message == wrong.value.message


async def test_other_calls_take_no_nonsense_for_an_item_either(tmp_path: Path) -> None:
    with headcount.Client(str(tmp_path), autostart=False) as client:
        aio = headcount.AsyncClient(str(tmp_path), autostart=False)
        for call in ("release", "check", "history", "handoff"):
            more = {"check": (1,), "handoff": ("x",)}.get(call, ())
            with pytest.raises(WrongCall):
                getattr(client, call)(None, *more)
            with pytest.raises(WrongCall):
                await getattr(aio, call)(None, *more)


def test_what_makes_sense_is_sent(tmp_path: Path) -> None:
    said = {"item": "task:A", "granted": True, "fence": 1, "code": "granted"}
    with WireServer(str(tmp_path / "headcount.sock"), lambda *_: answer(said)) as server:
        with headcount.Client(str(tmp_path), autostart=False) as client:
            for wait in (0, 0.5, 600, times.WAIT_MOST):
                assert client.claim("task:A", wait=wait, acting_as="auth", note="", request="r")
        assert len(server.requests) == 4


@linux
def test_outside_every_agent_the_hint_is_an_argument(daemon: Daemon) -> None:
    env = {name: value for name, value in environment(daemon).items() if name not in MARKS}
    with headcount.Client(autostart=False, env=env) as client, pytest.raises(Refused) as refused:
        client.claim("task:A")

    async def likewise() -> None:
        async with headcount.AsyncClient(autostart=False, env=env) as client:
            await client.claim("task:A")

    with pytest.raises(Refused) as awaited:
        asyncio.run(likewise())
    for each in (refused.value, awaited.value):
        assert each.code == "not-an-agent" and each.status == 403
        assert "own=True" in str(each.hint) and "acting_as=" in str(each.hint)
    shown = "".join(traceback.format_exception(refused.value))
    assert "own=True" in shown  # who only sees the traceback sees the next step


def refused_claim(code: str) -> Claim:
    fields = {"item": "task:A", "granted": False, "because": "Held by x.", "code": code, "holder": {"pid": 7}}
    return Claim(**claim_fields(fields))


def test_held_by_another_names_the_next_step_where_waiting_helps() -> None:
    assert "wait=" in str(HeldByAnother(refused_claim("held")).hint)
    assert HeldByAnother(refused_claim("request-over")).hint is None  # waiting changes nothing there


def test_a_fault_can_be_sent_to_another_process_as_it_is() -> None:
    """A pool whose worker raised what cannot be read again waits for ever."""
    faults: list[ClientFault] = [
        Unavailable("away", "See: x"),
        NotFound(404, "not-held", "Nobody.", None),
        Refused(403, "not-an-agent", "No.", "own=True"),
        WrongCall("What?"),
    ]
    for fault in faults:
        again = pickle.loads(pickle.dumps(fault))
        assert (type(again), str(again), vars(again)) == (type(fault), str(fault), vars(fault))
    held = pickle.loads(pickle.dumps(HeldByAnother(refused_claim("held"))))
    assert held.claim.holder.pid == 7 and held.status == 409


@linux
def test_whoami_has_the_name_the_role_and_the_groups(daemon: Daemon, agent: MakeAgent) -> None:
    one = agent()
    id = settled(one, daemon, session_title="auth-refactor")
    code = "import headcount; me = headcount.Client(autostart=False).whoami(); print(me.session, me.name, me.role, me.groups)"
    said = shell(one, daemon, f"{sys.executable} -c '{code}'")
    assert said.out == f"{id} auth-refactor None ()\n", said.err


# --- a path of the caller's home ---------------------------------------------------------------------


def test_a_tilde_is_the_callers_home_and_only_where_a_shell_would_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/h/me")
    assert item_here("path:~/x.py") == "path:/h/me/x.py"
    assert item_here("path:~") == "path:/h/me"
    assert item_here("path:~/src/**") == "path:/h/me/src/**"
    assert item_here("path:~/**") == "path:/h/me/**"
    assert item_here("path:./~/x.py", "/d") == "path:/d/~/x.py"
    assert item_here("path:~x.py", "/d") == "path:/d/~x.py"  # an editor's copy, or somebody else's home
    assert item_here("path:a/~/x", "/d") == "path:/d/a/~/x"
    assert item_here("task:~/x") == "task:~/x"


@linux
def test_a_claim_below_the_home_stands_in_the_way_of_the_same_file(daemon: Daemon) -> None:
    env = {name: value for name, value in environment(daemon).items() if name not in MARKS}
    said = subprocess.run(
        [
            sys.executable,
            "-m",
            "headcount",
            "hold",
            "path:~/x.py",
            "--",
            sys.executable,
            "-m",
            "headcount",
            "claims",
        ],
        env=env,
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert f"path:{daemon.user_home}/x.py" in said.stdout, said
