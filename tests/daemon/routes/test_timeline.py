"""The timeline and today's waiting, asked of a real daemon with real processes."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.rig.agents.callers import Errand, Request, child
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually

ASKS = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}


def started(daemon: Daemon, agent: Agent) -> str:
    agent.hook(daemon.mailbox, "SessionStart", source="startup", session_title="auth")
    return str(daemon.session(conversation=agent.conversation)["id"])


def lane_of(daemon: Daemon, id: str, query: str = "") -> dict[str, object]:
    (lane,) = [lane for lane in daemon.get(f"/v1/timeline{query}")["lanes"] if lane["session"] == id]
    found: dict[str, object] = lane
    return found


def test_a_lane_tells_what_a_session_did_held_and_how_it_ended(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    one = agent()
    id = started(daemon, one)
    one.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    one.hook(daemon.mailbox, "PermissionRequest", **ASKS)
    daemon.session(id=id, activity="waiting")
    wish = Request("POST", "/v1/claims", {"item": "task:LANE-1"})
    (granted,) = child(one, Errand(tmp_path / "errands", daemon.socket, [wish]))
    assert granted.status == 200
    one.kill()
    daemon.session(id=id, liveness="ended")
    lane = eventually(lambda: found if (found := lane_of(daemon, id))["ended"] else None)
    spans = lane["spans"]
    assert isinstance(spans, list)
    assert [span["activity"] for span in spans][-2:] == ["working", "waiting"]
    assert (spans[-1]["waiting_on"], spans[-1]["doing"]) == ("permission", "Bash: make deploy")
    (held,) = lane["claims"]  # type: ignore[misc]
    assert (held["item"], held["because"]) == ("task:LANE-1", "died")
    assert lane["ended"]["signal"] == 9  # type: ignore[index]
    assert lane_of(daemon, id, f"?session={id}")["session"] == id


def test_waiting_is_counted_per_session_and_not_while_nobody_looked(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    one, two = agent(), agent()
    ids = {started(daemon, each) for each in (one, two)}
    began = time.time()
    for each in (one, two):
        each.hook(daemon.mailbox, "PermissionRequest", **ASKS)
    eventually(lambda: len([row for row in daemon.sessions(activity="waiting") if row["id"] in ids]) == 2)
    since = int(began) - 5
    eventually(lambda: daemon.get(f"/v1/today?since={since}")["waited_s"] > 0.2)
    daemon.kill()
    down = time.time()
    eventually(lambda: time.time() - down > 1.5)
    daemon.ready()
    day = daemon.get(f"/v1/today?since={since}")
    mine = [row for row in day["sessions"] if row["session"] in ids]
    assert [row["times"] for row in mine] == [1, 1]
    seen = time.time() - began - 1.4  # the daemon was away for longer than that
    assert all(0 < row["seconds"] < seen for row in mine)
    assert day["any_s"] <= day["waited_s"]
    assert day["waiting_now"] >= 2
    blind = daemon.get("/v1/timeline")["blind"]
    assert blind, "the time in which nobody looked is told"


def test_a_session_that_changed_nothing_for_long_is_drawn_all_the_same(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    one = agent()
    id = started(daemon, one)
    one.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    daemon.session(id=id, activity="working")
    wall = int(time.time()) + 1
    eventually(lambda: time.time() > wall + 0.2)
    spans = lane_of(daemon, id, f"?since={wall}")["spans"]
    assert [span["activity"] for span in spans] == ["working"]  # type: ignore[attr-defined]


def test_an_agent_of_which_nothing_was_heard_has_a_lane_too(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    one = agent()
    id = eventually(lambda: daemon.sessions(pid=one.pid), within=90)[0]["id"]
    daemon.session(id=id, activity="unknown")
    eventually(lambda: not daemon.sessions(id=id)[0]["provisional"])
    lane = eventually(lambda: lane_of(daemon, id))
    assert [span["activity"] for span in lane["spans"]] == ["unknown"]  # type: ignore[attr-defined]
    one.kill()
    daemon.session(id=id, liveness="ended")
    lane = eventually(lambda: found if (found := lane_of(daemon, id))["ended"] else None)
    assert [span["activity"] for span in lane["spans"]] == ["unknown"]  # type: ignore[attr-defined]


def test_what_was_claimed_before_the_picture_begins_is_held_in_it(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    one = agent()
    id = started(daemon, one)
    wish = Request("POST", "/v1/claims", {"item": "task:LONG-1"})
    (granted,) = child(one, Errand(tmp_path / "errands", daemon.socket, [wish]))
    wall = int(time.time()) + 1
    eventually(lambda: time.time() > wall + 0.2)
    for query in (f"?since={wall}", f"?since={wall}&session={id}"):
        (held,) = lane_of(daemon, id, query)["claims"]  # type: ignore[misc]
        assert (held["item"], held["fence"], held["to"]) == ("task:LONG-1", granted.data["fence"], None)


def test_a_picture_of_the_past_is_not_filled_with_what_came_later(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    one = agent()
    id = started(daemon, one)
    one.hook(daemon.mailbox, "UserPromptSubmit", prompt="x")
    daemon.session(id=id, activity="working")
    wall = int(time.time()) + 1
    eventually(lambda: time.time() > wall + 1.2)
    one.hook(daemon.mailbox, "PermissionRequest", **ASKS)
    daemon.session(id=id, activity="waiting")
    spans = lane_of(daemon, id, f"?since={wall}&until={wall + 1}")["spans"]
    assert [span["activity"] for span in spans] == ["working"]  # type: ignore[attr-defined]


def test_the_picture_of_one_session_shows_where_nobody_looked(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    id = started(daemon, agent())
    first = daemon.get(f"/v1/timeline?session={id}")["blind"]
    assert len(first) == 1, "before the first start nobody looked"
    daemon.restart()
    daemon.session(id=id, liveness="alive")
    assert len(daemon.get(f"/v1/timeline?session={id}")["blind"]) == 2
    assert daemon.get(f"/v1/timeline?session={id}")["blind"] == daemon.get("/v1/timeline")["blind"]


def test_nonsense_of_time_is_refused(daemon: Daemon) -> None:
    for query in ("since=x", "since=99999999999", "since=20&until=10", "since=-1"):
        assert daemon.call("GET", f"/v1/timeline?{query}").status == 400, query
    assert daemon.call("GET", "/v1/timeline?session=nobody").status == 404
    assert daemon.call("GET", "/v1/timeline?since=1").status == 200  # as far back as one picture goes


def test_today_since_a_day_that_has_not_come_is_refused(daemon: Daemon) -> None:
    """A number that no clock can write was answered 500."""
    for since in (71_724_486_767_952, 9_999_999_999):
        answer = daemon.call("GET", f"/v1/today?since={since}")
        assert (answer.status, answer.data["error"]["code"]) == (400, "bad-parameter")
    assert daemon.call("GET", "/v1/today?since=1").status == 200
