"""Who may do what: every route asked by every kind of caller, each a real process in its place.

The expectations are written out here and not read from the daemon's own table, so that a slip in that table shows.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.daemon.api.permissions import AUTHORITY
from headcount.daemon.routes.table import ROUTES
from tests.rig.agents.callers import Answer, Errand, Request, child, detached, left_behind, marks, nested
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon

ANYBODY, SOMEBODY, OPERATOR = "anybody", "somebody", "operator"

Row = tuple[str, str, Request, str]  # method, template, an example, who may


def rows(victim: str, harmless_pid: int) -> list[Row]:
    """The last one stops the daemon when it is allowed."""
    item = "task%3AX"
    wish = {"item": "task:X"}
    wrong = {"kill_after": -1}
    found: list[Row] = [
        ("GET", "/healthz", Request("GET", "/healthz"), ANYBODY),
        ("GET", "/metrics", Request("GET", "/metrics"), ANYBODY),
        ("GET", "/openapi.json", Request("GET", "/openapi.json"), ANYBODY),
        ("GET", "/v1/status", Request("GET", "/v1/status"), ANYBODY),
        ("GET", "/v1/events", Request("GET", "/v1/events"), ANYBODY),
        ("GET", "/v1/history", Request("GET", "/v1/history"), ANYBODY),
        ("GET", "/v1/timeline", Request("GET", "/v1/timeline"), ANYBODY),
        ("GET", "/v1/today", Request("GET", "/v1/today"), ANYBODY),
        ("GET", "/v1/sessions", Request("GET", "/v1/sessions"), ANYBODY),
        ("GET", "/v1/sessions/me", Request("GET", "/v1/sessions/me?explain=1"), ANYBODY),
        ("GET", "/v1/sessions/{id}", Request("GET", f"/v1/sessions/{victim}"), ANYBODY),
        ("GET", "/v1/sessions/{id}/explain", Request("GET", f"/v1/sessions/{victim}/explain"), ANYBODY),
        (
            "GET",
            "/v1/sessions/{id}/peek",
            Request("GET", f"/v1/sessions/{victim}/peek"),
            OPERATOR,
        ),  # another's
        (
            "POST",
            "/v1/sessions/{id}/visited",
            Request("POST", f"/v1/sessions/{victim}/visited", {}),
            OPERATOR,
        ),
        ("GET", "/v1/reboot", Request("GET", "/v1/reboot"), ANYBODY),
        ("POST", "/v1/reboot/told", Request("POST", "/v1/reboot/told", {}), OPERATOR),
        ("GET", "/v1/sessions/{id}/where", Request("GET", f"/v1/sessions/{victim}/where"), ANYBODY),
        ("GET", "/v1/sessions/{id}/resume", Request("GET", f"/v1/sessions/{victim}/resume"), ANYBODY),
        ("POST", "/v1/hooks/{agent}", Request("POST", "/v1/hooks/claude-code", {}), ANYBODY),
        ("GET", "/v1/claims", Request("GET", "/v1/claims"), ANYBODY),
        ("GET", "/v1/claims", Request("GET", f"/v1/claims?history={item}"), ANYBODY),
        (
            "POST",
            "/v1/claims/{item}/check",
            Request("POST", f"/v1/claims/{item}/check", {"fence": 1}),
            ANYBODY,
        ),
        ("GET", "/v1/leftovers", Request("GET", "/v1/leftovers"), ANYBODY),
        ("GET", "/v1/fleet", Request("GET", "/v1/fleet"), ANYBODY),
        ("GET", "/v1/fleet/sessions", Request("GET", "/v1/fleet/sessions"), ANYBODY),
        (
            "POST",
            "/v1/fleet/join",
            Request("POST", "/v1/fleet/join", {"address": "no address"}),
            OPERATOR,
        ),
        ("POST", "/v1/fleet/leave", Request("POST", "/v1/fleet/leave", {}), OPERATOR),
        ("POST", "/v1/guard/git", Request("POST", "/v1/guard/git", {}), ANYBODY),
        ("POST", "/v1/guard/{agent}", Request("POST", "/v1/guard/claude-code", {}), ANYBODY),
        ("POST", "/v1/context/{agent}", Request("POST", "/v1/context/claude-code", {}), ANYBODY),
        ("POST", "/v1/claims", Request("POST", "/v1/claims", {"item": "no kind"}), SOMEBODY),
        ("POST", "/v1/claims", Request("POST", "/v1/claims", {**wish, "as": victim}), OPERATOR),
        ("DELETE", "/v1/claims/{item}", Request("DELETE", f"/v1/claims/{item}"), SOMEBODY),
        ("DELETE", "/v1/claims/{item}", Request("DELETE", f"/v1/claims/{item}?force=1"), OPERATOR),
        ("DELETE", "/v1/claims/{item}", Request("DELETE", f"/v1/claims/{item}?as={victim}"), OPERATOR),
        (
            "POST",
            "/v1/claims/{item}/handoff",
            Request("POST", f"/v1/claims/{item}/handoff", {"to": victim}),
            SOMEBODY,
        ),
        ("POST", "/v1/claims/accept-loss", Request("POST", "/v1/claims/accept-loss", {}), OPERATOR),
        (
            "POST",
            "/v1/sessions/register",
            Request("POST", "/v1/sessions/register", {"agent": "x", "conversation": "a b"}),
            SOMEBODY,
        ),
        (
            "POST",
            "/v1/sessions/register",
            Request("POST", "/v1/sessions/register", {"agent": "x", "pid": harmless_pid}),
            OPERATOR,  # somebody else's process
        ),
        ("DELETE", "/v1/sessions/{id}", Request("DELETE", f"/v1/sessions/{victim}"), OPERATOR),  # not its own
        *(  # of a session that the caller did not start; a time that is refused, so that nobody is ended
            (
                "POST",
                f"/v1/sessions/{{id}}/{verb}",
                Request("POST", f"/v1/sessions/{victim}/{verb}", wrong),
                OPERATOR,
            )
            for verb in ("stop", "close")
        ),
        ("POST", "/v1/leftovers/reap", Request("POST", "/v1/leftovers/reap", {}), SOMEBODY),  # its own alone
        ("POST", "/v1/notify/test", Request("POST", "/v1/notify/test", {}), OPERATOR),
        ("POST", "/v1/web/login", Request("POST", "/v1/web/login", {"code": "x"}), ANYBODY),
        ("POST", "/v1/web", Request("POST", "/v1/web", {}), OPERATOR),
        ("DELETE", "/v1/web", Request("DELETE", "/v1/web"), OPERATOR),
        ("POST", "/v1/stop", Request("POST", "/v1/stop", {}), OPERATOR),
    ]
    return found


MAY: dict[str, set[str]] = {
    "operator": {ANYBODY, SOMEBODY, OPERATOR},
    "agent": {ANYBODY, SOMEBODY},
    "nobody": {ANYBODY},
    "outsider": set(),
}
NOT_ALLOWED = {"operator-only", "not-verified", "not-yours", "not-you"}


class Stage:
    """A daemon, a victim session with a token, and an agent that is somebody else."""

    def __init__(self, daemon: Daemon, directory: Path, make: Callable[..., Agent]) -> None:
        self.daemon = daemon
        self.directory = directory
        self.agent, self.victim, self.stranger = make(), make(), make()
        for each in (self.agent, self.victim):
            each.hook(daemon.mailbox, "SessionStart", source="startup")
        self.agent_id = daemon.session(conversation=self.agent.conversation)["id"]
        self.victim_id = daemon.session(conversation=self.victim.conversation)["id"]
        registered = child(
            self.victim,
            self.errand([Request("POST", "/v1/sessions/register", {"agent": "claude-code", "launch": True})]),
        )
        assert registered[0].status == 201, registered
        self.token = Path(registered[0].data["token_file"]).read_text()
        self.bearer = {"authorization": f"Headcount-Session {self.token}"}

    def errand(self, requests: list[Request]) -> Errand:
        return Errand(self.directory, self.daemon.socket, requests)

    def rows(self) -> list[Row]:
        return rows(self.victim_id, self.stranger.pid)

    def matrix(self, **headers: str) -> Errand:
        requests = [
            Request(each.method, each.target, each.body, {**each.headers, **headers})
            for _, _, each, _ in self.rows()
        ]
        return self.errand(requests)

    def judge(self, kind: str, answers: list[Answer]) -> None:
        wrong = []
        for (method, template, request, need), answer in zip(self.rows(), answers, strict=True):
            refused = answer.status in (0, 403) and (answer.code in NOT_ALLOWED or answer.code is None)
            if refused == (need in MAY[kind]):
                wrong.append((method, template, request.target, request.body, need, answer))
        assert wrong == []
        if "operator" not in kind:
            assert self.daemon.call("GET", "/healthz").status == 200, "it was stopped"

    def who(self, answers: list[Answer]) -> dict[str, object]:
        nth = [template for _, template, _, _ in self.rows()].index("/v1/sessions/me")
        me: dict[str, object] = answers[nth].data
        return me


@pytest.fixture
def stage(daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path) -> Iterator[Stage]:
    yield Stage(daemon, tmp_path / "errands", agent)


def test_every_route_has_a_line_of_authority_and_a_row_in_this_matrix() -> None:
    routes = {(route.method, route.path) for route in ROUTES}
    assert routes == {(method, template) for method, template, _, _ in rows("x", 1)}
    assert routes == set(AUTHORITY)


def test_the_operator_may_do_everything(stage: Stage) -> None:
    answers = detached(stage.matrix())
    stage.judge("operator", answers)
    assert answers[-1].status == 202
    assert stage.who(answers)["kind"] == "operator"
    assert stage.daemon.process is not None
    assert stage.daemon.process.wait(10) == 0


def test_an_agent_acts_for_itself_and_never_as_the_operator(stage: Stage) -> None:
    answers = child(stage.agent, stage.matrix())
    stage.judge("agent", answers)
    assert stage.who(answers)["session"] == stage.agent_id
    assert answers[-1].data["error"]["message"] == (
        f"You are inside agent {stage.agent_id[:4]}; down is for people. Use a shell outside it."
    )


@pytest.mark.parametrize("how", ["setsid", "double fork"])
def test_a_reparented_child_is_still_the_agents_by_its_marks(stage: Stage, how: str) -> None:
    answers = left_behind(stage.agent, stage.matrix(), how)
    stage.judge("agent", answers)
    me = stage.who(answers)
    assert (me["session"], me["resolved_by"]) == (stage.agent_id, "environment")


def test_a_session_inside_a_session_is_itself_and_no_operator(stage: Stage) -> None:
    """I5: it does not become the outer one either."""
    answers = nested(stage.agent, stage.matrix())
    stage.judge("agent", answers)
    me = stage.who(answers)
    assert me["kind"] == "descendant"
    assert me["session"] not in (None, stage.agent_id)
    assert me["above"] == [stage.agent_id]


def test_another_session_with_a_stolen_token_may_change_nothing(stage: Stage) -> None:
    answers = child(stage.agent, stage.matrix(**stage.bearer))
    stage.judge("nobody", answers)
    assert stage.who(answers)["session"] is None


def test_a_visible_stranger_with_a_stolen_token_may_change_nothing(stage: Stage) -> None:
    stage.judge("nobody", detached(stage.matrix(**stage.bearer)))


def test_the_sessions_own_child_may_send_its_token(stage: Stage) -> None:
    answers = child(stage.victim, stage.errand([Request("GET", "/v1/sessions/me", None, stage.bearer)]))
    assert (answers[0].data["session"], answers[0].data["resolved_by"]) == (stage.victim_id, "peer")


def test_a_token_names_the_session_where_the_ancestry_cannot_be_seen(stage: Stage) -> None:
    me = Request("GET", "/v1/sessions/me", None, stage.bearer)
    stop = Request("POST", "/v1/stop", {}, stage.bearer)
    answers = detached(stage.errand([me, stop]), "unshare", "--pid", "--fork")
    assert (answers[0].data["session"], answers[0].data["resolved_by"]) == (stage.victim_id, "token")
    assert answers[1].code == "operator-only"


def test_from_another_pid_namespace_without_a_token_nobody_is_somebody(stage: Stage) -> None:
    stage.judge("nobody", detached(stage.matrix(), "unshare", "--pid", "--fork"))


def test_a_token_of_a_dead_session_names_nobody_also_where_the_ancestry_cannot_be_seen(stage: Stage) -> None:
    stage.victim.kill()
    stage.daemon.session(id=stage.victim_id, liveness="ended")
    stage.judge("nobody", detached(stage.matrix(**stage.bearer), "unshare", "--pid", "--fork"))


def test_another_user_gets_nowhere(stage: Stage) -> None:
    """By the rights of the files; and, were they wrong, by the kernel's word on the peer."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    script = shutil.which("setpriv")
    assert script is not None
    other = (script, "--reuid", "65534", "--regid", "65534", "--clear-groups")
    open_wide(stage.directory)
    errand = stage.matrix()
    open_wide(stage.directory)
    answers = detached(errand, *other)
    assert {answer.status for answer in answers} == {0}
    for place in (stage.daemon.home, stage.daemon.socket):
        place.chmod(0o777)
    errand = stage.matrix(**stage.bearer)
    open_wide(stage.directory)
    answers = detached(errand, *other)
    stage.judge("outsider", answers)
    assert {(answer.status, answer.code) for answer in answers} == {(403, "not-you")}


def open_wide(directory: Path) -> None:
    """So that what is tested is the daemon's own gate."""
    for place in (directory, *directory.parents):
        if place.stat().st_uid == os.getuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    directory.chmod(0o777)
    for file in directory.iterdir():
        file.chmod(0o666)


def test_a_hook_is_its_agents(stage: Stage) -> None:
    """`/bin/sh -c`, as the real CLI runs one, with the marks in its environment."""
    errand = stage.matrix()
    words = " ".join(f"{name}={value}" for name, value in marks(stage.agent).items())
    stage.agent.run(f"env {words} /bin/sh -c '{errand.line}; exit 0'")
    answers = errand.answers()
    stage.judge("agent", answers)
    assert stage.who(answers)["resolved_by"] == "peer"


def test_an_agent_with_a_lying_environment_is_still_itself(stage: Stage) -> None:
    errand = stage.matrix()
    words = " ".join(f"{name}={value}" for name, value in marks(stage.victim).items())
    stage.agent.run(f"env {words} {errand.line}")
    answers = errand.answers()
    stage.judge("agent", answers)
    assert stage.who(answers)["session"] == stage.agent_id


def test_marks_from_before_a_clear_still_name_what_the_process_hosts_now(stage: Stage) -> None:
    """A background job keeps the environment it was started with."""
    before = marks(stage.agent)
    stage.agent.hook(stage.daemon.mailbox, "SessionEnd", reason="clear")
    stage.agent.conversation = "after-clear"
    stage.agent.hook(stage.daemon.mailbox, "SessionStart", source="clear")
    row = stage.daemon.session(conversation="after-clear")
    (answer,) = detached(stage.errand([Request("GET", "/v1/sessions/me")]), **before)
    assert (answer.data["session"], answer.data["resolved_by"]) == (row["id"], "environment")


def test_a_daemon_that_cannot_see_its_callers_takes_nobody_for_the_operator(tmp_path: Path) -> None:
    """It lives in a pid namespace of its own: the kernel gives it no pid of whoever is outside."""
    daemon = Daemon(tmp_path / "inside")
    daemon.start(("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"))
    try:
        asked = [Request("GET", "/v1/sessions/me?explain=1"), Request("POST", "/v1/stop", {})]
        me, stop = detached(Errand(tmp_path / "errands", daemon.socket, asked))
        assert (me.data["kind"], stop.code) == ("nobody", "operator-only")
        assert "cannot be seen" in me.data["rungs"][0]["why"]
    finally:
        daemon.stop()


@pytest.mark.parametrize("lie", ["dead", "other conversation", "no digits", "pid alone"])
def test_marks_that_do_not_hold_make_neither_an_agent_nor_an_operator(stage: Stage, lie: str) -> None:
    env = marks(stage.victim)
    if lie == "dead":
        stage.victim.kill()
        stage.daemon.session(id=stage.victim_id, liveness="ended")
    elif lie == "other conversation":
        env["CLAUDE_CODE_SESSION_ID"] = stage.agent.conversation
    elif lie == "no digits":
        env["CLAUDE_PID"] = "１２３"
    else:
        del env["CLAUDE_CODE_SESSION_ID"]
    answers = detached(stage.matrix(), **env)
    stage.judge("nobody", answers)
    assert stage.who(answers)["session"] is None


def test_a_launched_session_that_is_gone_leaves_no_operator_behind(stage: Stage) -> None:
    """Whoever still carries the path of its token was started by it."""
    stage.judge("nobody", detached(stage.matrix(), HEADCOUNT_TOKEN_FILE="/nowhere"))
