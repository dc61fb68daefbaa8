"""Registering over the wire: who replaces whom, and what a token is."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rig.agents.callers import Answer, Errand, Request, child, detached
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

Make = Callable[..., Agent]


class Desk:
    def __init__(self, daemon: Daemon, directory: Path) -> None:
        self.daemon = daemon
        self.directory = directory

    def as_agent(self, agent: Agent, *requests: Request) -> list[Answer]:
        return child(agent, Errand(self.directory, self.daemon.socket, list(requests)))

    def as_operator(self, *requests: Request, before: tuple[str, ...] = ()) -> list[Answer]:
        return detached(Errand(self.directory, self.daemon.socket, list(requests)), *before)

    def launch(self, agent: Agent, **more: Any) -> Path:
        (answer,) = self.as_agent(agent, registering(launch=True, **more))
        assert answer.status == 201, answer
        return Path(answer.data["token_file"])

    def me_by(self, token: str, before: tuple[str, ...] = ("unshare", "--pid", "--fork")) -> Answer:
        """Asked from where the ancestry cannot be seen."""
        header = {"authorization": f"Headcount-Session {token}"}
        return self.as_operator(Request("GET", "/v1/sessions/me", None, header), before=before)[0]


def registering(agent: str = "claude-code", **fields: Any) -> Request:
    return Request("POST", "/v1/sessions/register", {"agent": agent, **fields})


@pytest.fixture
def desk(daemon: Daemon, tmp_path: Path) -> Desk:
    return Desk(daemon, tmp_path / "errands")


# --- registering -------------------------------------------------------------------------------------


def test_a_registered_session_carries_its_labels_and_ends_with_its_process(desk: Desk, agent: Make) -> None:
    bot = agent(name="bot")
    (answer,) = desk.as_operator(
        registering("bot", conversation="c-1", pid=bot.pid, name="auth", role="builder", groups=["api"])
    )
    assert answer.status == 201
    row = desk.daemon.session(id=answer.data["session"])
    assert (row["pid"], row["liveness"], row["name"], row["role"], row["groups"]) == (
        bot.pid, "alive", "auth", "builder", ["api"],
    )  # fmt: skip
    bot.kill()
    desk.daemon.session(id=row["id"], liveness="ended")


def test_start_and_end_of_a_registered_session_are_told_with_its_labels(desk: Desk, agent: Make) -> None:
    bot = agent(name="bot")
    with desk.daemon.stream() as events:
        next(events)  # the snapshot
        desk.as_operator(
            registering("bot", conversation="c-1", pid=bot.pid, name="auth", role="r", groups=["g"])
        )
        bot.kill()
        told = {}
        while "session.ended" not in told:
            event = json.loads(next(events).data)
            if event.get("session", {}).get("pid") == bot.pid:
                told[event["type"]] = event["session"]
    for type in ("session.started", "session.ended"):
        row = told[type]
        assert (row["conversation"], row["name"], row["role"], row["groups"]) == ("c-1", "auth", "r", ["g"])


def test_a_conversation_alive_elsewhere_is_refused_and_the_living_one_is_named(
    desk: Desk, agent: Make
) -> None:
    first, second = agent(), agent()
    (held,) = desk.as_agent(first, registering(conversation="c-1"))
    (answer,) = desk.as_agent(second, registering(conversation="c-1"))
    assert (answer.status, answer.code) == (409, "alive-elsewhere")
    assert answer.data["session"]["id"] == held.data["session"]
    message = answer.data["error"]["message"]
    assert held.data["session"][:4] in message
    assert f"pid {first.pid}" in message
    (answer,) = desk.as_agent(second, registering(conversation="c-1", anyway=True))
    assert answer.status == 201
    assert answer.data["session"] != held.data["session"]


def test_a_stopped_predecessor_is_alive_and_stays_in_the_way(desk: Desk, agent: Make) -> None:
    first, second = agent(), agent()
    desk.as_agent(first, registering(conversation="c-1"))
    first.process.send_signal(19)
    (answer,) = desk.as_agent(second, registering(conversation="c-1"))
    assert answer.code == "alive-elsewhere"


def test_a_dead_predecessor_is_replaced_at_once_and_named(desk: Desk, agent: Make) -> None:
    first, second = agent(), agent()
    (held,) = desk.as_agent(first, registering(conversation="c-1"))
    first.kill()
    (answer,) = desk.as_agent(second, registering(conversation="c-1"))
    assert answer.status == 201
    assert desk.daemon.session(id=answer.data["session"])["predecessor"] == held.data["session"]


def test_without_pidfds_a_dead_predecessor_is_replaced_when_a_second_look_confirms_its_end(
    agent: Make, tmp_path: Path
) -> None:
    with Daemon(tmp_path / "headcount", HEADCOUNT_WITHOUT="pidfd") as daemon:
        desk = Desk(daemon, tmp_path / "errands")
        first, second = agent(), agent()
        (held,) = desk.as_agent(first, registering(conversation="c-1"))
        first.kill()
        daemon.session(id=held.data["session"], liveness="ended")
        (answer,) = desk.as_agent(second, registering(conversation="c-1"))
        assert answer.status == 201
        assert daemon.session(id=answer.data["session"])["predecessor"] == held.data["session"]


def test_a_dead_pid_is_refused_and_so_is_what_is_never_a_session(desk: Desk, agent: Make) -> None:
    gone = agent(name="bot")
    gone.kill()
    zombie = subprocess.Popen(["true"])
    eventually(lambda: Path(f"/proc/{zombie.pid}/stat").read_text().split()[2] == "Z")
    pids = (gone.pid, zombie.pid, 1, 0, -1, desk.daemon.pid)
    answers = desk.as_operator(*(registering("bot", conversation="c-1", pid=pid) for pid in pids))
    zombie.wait()
    assert [answer.code for answer in answers] == ["dead-process"] * 2 + ["bad-pid"] * 4
    assert desk.daemon.sessions(conversation="c-1") == []


def test_an_agent_registers_what_it_started_and_nothing_else(desk: Desk, agent: Make) -> None:
    mine, other = agent(), agent(name="bot")
    mine.run("sleep 600 & echo $!")
    inner = int(mine.run("echo $!"))
    try:
        answers = desk.as_agent(
            mine,
            registering("bot", conversation="c-1", pid=inner),
            registering("bot", conversation="c-2", pid=other.pid),
        )
        assert [answer.status for answer in answers] == [201, 403]
        row = desk.daemon.session(id=answers[0].data["session"])
        assert row["parent"] == desk.daemon.session(pid=mine.pid)["id"]
    finally:
        mine.run(f"kill {inner}")


def test_what_the_agent_itself_says_it_hosts_is_not_registered_away(desk: Desk, agent: Make) -> None:
    claude = agent()
    claude.hook(desk.daemon.mailbox, "UserPromptSubmit", prompt="x")
    id = desk.daemon.session(conversation=claude.conversation)["id"]
    (answer,) = desk.as_agent(claude, registering(conversation="another"))
    assert (answer.status, answer.code, answer.data["session"]["id"]) == (409, "hosts-another", id)


@pytest.mark.parametrize(
    "fields",
    [
        {"agent": "two words"},
        {"conversation": "a b"},
        {"name": "\x1b[31m"},
        {"groups": ["x"] * 21},
        {"pid": "7"},
    ],
)
def test_nonsense_is_refused_with_a_word(desk: Desk, fields: dict[str, Any]) -> None:
    (answer,) = desk.as_operator(Request("POST", "/v1/sessions/register", {"agent": "bot", **fields}))
    assert answer.status == 400


# --- withdrawing -------------------------------------------------------------------------------------


def test_withdrawing_ends_the_registration_and_its_token_but_no_living_session(
    desk: Desk, agent: Make
) -> None:
    claude = agent()
    token = desk.launch(claude, conversation="c-1", name="auth").read_text()
    id = desk.daemon.session(conversation="c-1")["id"]
    (answer,) = desk.as_agent(claude, Request("DELETE", f"/v1/sessions/{id}"))
    assert answer.data == {"session": id, "withdrawn": True, "alive": True}
    row = desk.daemon.session(id=id)
    assert (row["liveness"], row["name"]) == ("alive", None)
    assert desk.me_by(token).status == 403
    (again,) = desk.as_agent(claude, Request("DELETE", f"/v1/sessions/{id}"))
    assert again.data["withdrawn"] is False


# --- tokens ------------------------------------------------------------------------------------------


def test_a_token_is_32_random_bytes_in_a_private_file(desk: Desk, agent: Make) -> None:
    one, two = agent(), agent()
    paths = [desk.launch(each) for each in (one, two)]
    texts = [path.read_text() for path in paths]
    assert len(set(texts)) == 2
    for path, text in zip(paths, texts, strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", text)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert desk.launch(one) == paths[0]  # asking again is the same token


def test_a_token_ends_with_its_process_and_so_does_its_file(desk: Desk, agent: Make) -> None:
    claude = agent()
    path = desk.launch(claude)
    token = path.read_text()
    assert desk.me_by(token).status == 200
    claude.kill()
    eventually(lambda: not path.exists())
    answer = desk.me_by(token)
    assert (answer.status, answer.code) == (403, "not-verified")
    assert 'headcount_inheritance_refused_total{rung="token"} 1.0' in desk.daemon.get("/metrics")


def test_a_token_survives_a_restart_of_the_daemon_and_a_dead_ones_does_not(desk: Desk, agent: Make) -> None:
    living, dying = agent(), agent()
    tokens = [desk.launch(each).read_text() for each in (living, dying)]
    desk.daemon.kill()
    dying.kill()
    desk.daemon.ready()
    answers = [desk.me_by(token) for token in tokens]
    assert (answers[0].status, answers[0].data["pid"]) == (200, living.pid)
    assert answers[1].code == "not-verified"
    assert "is over" in answers[1].data["error"]["message"]
    assert len(os.listdir(desk.daemon.home / "tokens")) == 1


def test_a_stray_token_file_is_removed_at_the_next_start(desk: Desk, agent: Make) -> None:
    path = desk.launch(agent())
    stray = path.with_name("stray")
    stray.write_text("x")
    desk.daemon.restart()
    assert path.exists()
    assert not stray.exists()


@pytest.mark.parametrize("text", ["", " ", "x", "x" * 5000, "Ünicode", "a b"])
def test_a_strange_token_is_no_token(desk: Desk, text: str) -> None:
    assert desk.me_by(text.encode().decode("latin-1")).status == 403


def test_an_unknown_token_takes_nothing_from_an_agent_that_the_kernel_shows(desk: Desk, agent: Make) -> None:
    """The store may have been lost; the kernel's word stands."""
    claude = agent()
    header = {"authorization": "Headcount-Session unknown"}
    (answer,) = desk.as_agent(claude, Request("GET", "/v1/sessions/me", None, header))
    assert (answer.status, answer.data["pid"], answer.data["resolved_by"]) == (200, claude.pid, "peer")


def test_the_session_of_a_token_is_what_its_process_hosts_now(desk: Desk, agent: Make) -> None:
    claude = agent()
    token = desk.launch(claude, conversation=claude.conversation).read_text()
    claude.hook(desk.daemon.mailbox, "SessionEnd", reason="clear")
    claude.conversation = "after-clear"
    claude.hook(desk.daemon.mailbox, "SessionStart", source="clear")
    row = desk.daemon.session(conversation="after-clear")
    assert desk.me_by(token).data["session"] == row["id"]


def test_secrets_are_in_no_listing_log_store_or_process_argument(desk: Desk, agent: Make) -> None:
    """A canary in every token: it is looked for everywhere, and the looking is proved by what must be found."""
    claude = agent()
    path = desk.launch(claude, conversation="canary-conversation", name="canary-name")
    token = path.read_text()
    header = {"authorization": f"Headcount-Session {token}"}
    asks = ["/v1/sessions/me?explain=1", "/v1/sessions?all=1", "/v1/history?limit=1000", "/v1/status", "/metrics",
            "/v1/claims", "/openapi.json", "/v1/sessions/nowhere"]  # fmt: skip
    bodies = [{"agent": "x", "conversation": 7}, {"agent": "x", "pid": 1}]
    requests = [Request("GET", each, None, header) for each in asks]
    requests += [Request("POST", "/v1/sessions/register", each, header) for each in bodies]
    for answers in (desk.as_agent(claude, *requests), desk.as_operator(*requests)):
        assert token not in repr(answers)
        assert "canary-name" in repr(answers)
    bad = {"authorization": f"Headcount-Session {token}x"}
    desk.as_agent(claude, Request("GET", "/v1/sessions/me", None, bad))
    with desk.daemon.stream() as events:
        assert token not in next(events).data
    held = {
        file: file.read_bytes() for file in desk.daemon.home.rglob("*") if file.is_file() and file != path
    }
    assert any(b"canary-name" in content for content in held.values())  # the store was looked at
    assert [file for file, content in held.items() if token.encode() in content] == []
    for place in ("cmdline", "environ"):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                assert token.encode() not in (process / place).read_bytes()
            except OSError:
                continue
