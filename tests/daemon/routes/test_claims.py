"""Claims on a real daemon: real processes hold, die, wait; what was answered survives a kill."""

import json
import signal
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from headcount.client.faults import ClientFault
from headcount.client.transport.connection import Connection
from tests.rig.agents.commands_inside import inside
from tests.rig.agents.stand_in import Agent
from tests.rig.claims.claiming_process import Worker
from tests.rig.daemon.real_daemon import Daemon, eventually


@pytest.fixture
def worker(daemon):
    made = []

    def make() -> Worker:
        made.append(Worker(daemon))
        return made[-1]

    yield make
    for each in made:
        each.close()


def held(daemon: Daemon) -> dict[str, int]:
    return {row["item"]: row["holder"]["pid"] for row in daemon.get("/v1/claims")["claims"]}


def test_one_holder_and_the_other_is_told_who(daemon, worker):
    a, b = worker(), worker()
    status, granted = a.claim("task:AUTH-12", note="the login")
    assert (status, granted["granted"], granted["holder"]["pid"]) == (200, True, a.pid)
    status, refused = b.claim("task:AUTH-12")
    assert (status, refused["granted"], refused["fence"], refused["code"]) == (409, False, None, "held")
    assert refused["holder"]["pid"] == a.pid
    assert "elease" not in refused["because"]
    (row,) = daemon.get("/v1/claims")["claims"]
    assert (row["item"], row["fence"], row["note"]) == ("task:AUTH-12", granted["fence"], "the login")


def test_a_kill_frees_at_once_and_the_next_fence_is_higher(daemon, worker):
    a, b = worker(), worker()
    fence = a.claim("task:x")[1]["fence"]
    a.kill()
    status, answer = b.claim("task:x")
    assert status == 200  # no waiting: asking itself finds the dead
    assert answer["fence"] > fence
    assert not b.check("task:x", fence)
    assert b.check("task:x", answer["fence"])


def test_a_kill_is_told_without_anybody_asking(daemon, worker):
    a = worker()
    a.claim("task:x")
    with daemon.stream() as events:
        next(events)
        a.kill()
        event = next(each for each in events if not each.type.startswith("session."))  # others come and go
    assert event.type == "claim.released"
    data = json.loads(event.data)
    assert (data["item"], data["because"], data["holder"]["pid"]) == ("task:x", "died", a.pid)
    assert held(daemon) == {}


def test_a_waiter_gets_it_when_the_holder_is_killed(daemon, worker):
    a, b, c = worker(), worker(), worker()
    fence = a.claim("task:x")[1]["fence"]
    for waiter in (b, c):
        waiter.ask("POST", "/v1/claims", {"item": "task:x", "own": True, "wait": 30})
        eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"])
    eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 2)
    a.kill()
    status, answer = b.hear()
    assert (status, answer["holder"]["pid"]) == (200, b.pid)
    assert answer["fence"] > fence
    b.release("task:x")
    assert c.hear()[1]["fence"] > answer["fence"]


def test_a_waiter_that_was_killed_is_skipped(daemon, worker):
    a, b, c = worker(), worker(), worker()
    a.claim("task:x")
    for number, waiter in enumerate((b, c), 1):
        waiter.ask("POST", "/v1/claims", {"item": "task:x", "own": True, "wait": 30})
        eventually(lambda number=number: daemon.get("/v1/claims")["claims"][0]["waiting"] == number)
    b.kill()
    a.release("task:x")
    assert c.hear()[1]["holder"]["pid"] == c.pid


def test_the_end_of_waiting_is_an_answer(daemon, worker):
    a, b = worker(), worker()
    a.claim("task:x")
    before = time.monotonic()
    status, answer = b.claim("task:x", wait=0.5)
    assert (status, answer["granted"]) == (409, False)
    assert 0.4 < time.monotonic() - before < 5
    a.release("task:x")
    assert held(daemon) == {}


def test_whoever_hangs_up_while_waiting_gives_the_place_up(daemon, worker):
    a = worker()
    a.claim("task:x")
    connection = Connection(str(daemon.socket))
    wish = {"item": "task:x", "own": True, "wait": 30}

    def wait_in_vain() -> None:
        with pytest.raises(ClientFault):
            connection.call("POST", "/v1/claims", wish, within=0.5)

    waiting = threading.Thread(target=wait_in_vain)
    waiting.start()
    eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 1)
    waiting.join()
    connection.close()
    eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"] == 0)
    a.release("task:x")
    assert held(daemon) == {}


def test_what_was_granted_survives_a_kill_of_the_daemon(daemon, worker):
    """C8: it is on the disk before it is answered."""
    a, b = worker(), worker()
    first = a.claim("task:x", request="r-1")[1]
    b.claim("task:gone")
    daemon.kill()
    b.kill()
    daemon.ready()
    assert held(daemon) == {"task:x": a.pid}
    assert daemon.call("POST", "/v1/claims/task:x/check", {"fence": first["fence"]}).data["current"]
    again = Connection(str(daemon.socket))  # the test's own process is a stranger to it
    answer = again.call("POST", "/v1/claims", {"item": "task:x", "own": True, "request": "r-1"})
    again.close()
    assert (answer.status, answer.data["code"]) == (409, "request-reused")
    history = [event["type"] for event in daemon.get("/v1/claims?history=task:gone")["history"]]
    assert history == ["claim.granted", "claim.released"]
    fence = daemon.call("POST", "/v1/claims", {"item": "task:new", "own": True}).data["fence"]
    assert fence > first["fence"] + 1


def test_a_paused_holder_keeps_it_is_fenced_off_by_the_operator_and_finds_out(daemon, worker):
    a, b = worker(), worker()
    fence = a.claim("task:x")[1]["fence"]
    a.process.send_signal(signal.SIGSTOP)
    assert b.claim("task:x")[0] == 409
    assert daemon.call("DELETE", "/v1/claims/task:x?force=1").data["because"] == "forced"
    new = b.claim("task:x")[1]["fence"]
    a.process.send_signal(signal.SIGCONT)
    assert new > fence
    assert not a.check("task:x", fence)
    assert a.release("task:x", f"?fence={fence}")[0] == 409
    assert held(daemon) == {"task:x": b.pid}


def test_paths_are_followed_through_links(daemon, worker, tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    a, b = worker(), worker()
    status, answer = a.claim(f"path:{link}/../link/**")
    assert (status, answer["item"]) == (200, f"path:{real}/**")
    status, answer = b.claim(f"path:{real}/src/main.py")
    assert (status, answer["held_item"]) == (409, f"path:{real}/**")
    assert a.release(f"path:{link}/**")[1]["released"]


def test_an_item_without_a_kind_is_refused_with_what_was_meant(daemon, worker):
    status, answer = worker().claim("AUTH-12")
    assert (status, answer["error"]["code"]) == (400, "bad-item")
    assert answer["error"]["message"] == '"AUTH-12" has no kind. Did you mean task:AUTH-12?'


def test_without_an_agent_above_a_claim_is_refused_with_a_hint(daemon):
    answer = daemon.call("POST", "/v1/claims", {"item": "task:x"})
    assert (answer.status, answer.data["error"]["code"]) == (403, "not-an-agent")
    assert "hold" in answer.data["error"]["hint"]


def test_an_agent_claims_for_its_process_and_its_row_shows_it(daemon, agent):
    claude = agent()
    claude.hook(daemon.mailbox, "SessionStart", source="startup")
    row = daemon.session(conversation=claude.conversation)
    body = json.dumps({"item": "task:x"})
    said = json.loads(
        claude.run(
            f"curl -s --unix-socket {daemon.socket} -H Content-Type:application/json -d '{body}' "
            "http://localhost/v1/claims"
        )
    )
    assert said["granted"]
    assert said["holder"] | {"name": None} == {
        "session": row["id"], "conversation": claude.conversation, "pid": claude.pid, "name": None, "host": None, "here": True,
    }  # fmt: skip
    assert daemon.session(conversation=claude.conversation)["claims"] == ["task:x"]
    claude.kill()
    eventually(lambda: held(daemon) == {})
    ended = daemon.session(conversation=claude.conversation)
    assert (ended["liveness"], ended["claims"]) == ("ended", [])


def test_after_a_lost_store_claims_wait_for_the_operator(daemon, worker):
    daemon.kill(signal.SIGTERM)
    (daemon.home / "headcount.db").write_bytes(b"not a database, and long enough to be looked at" * 99)
    daemon.ready()
    status, answer = worker().claim("task:x")
    assert (status, answer["code"]) == (409, "loss-not-accepted")
    daemon.restart()
    assert worker().claim("task:x")[1]["code"] == "loss-not-accepted"
    assert daemon.call("POST", "/v1/claims/accept-loss", {}).data["accepted"]
    assert worker().claim("task:x")[0] == 200
    daemon.restart()
    assert worker().claim("task:y")[0] == 200


def test_the_openapi_document_tells_of_claims(daemon):
    document = daemon.get("/openapi.json")
    assert "ClaimAnswer" in document["components"]["schemas"]
    assert set(document["paths"]["/v1/claims"]) == {"get", "post"}


def test_metrics_count_claims(daemon, worker):
    a, b = worker(), worker()
    a.claim("task:x")
    b.claim("task:x")
    connection = Connection(str(daemon.socket))
    text = str(connection.call("GET", "/metrics").data)
    connection.close()
    assert "headcount_claims_granted_total 1.0" in text
    assert "headcount_claims_held_total 1.0" in text
    assert "headcount_claims 1.0" in text


def test_the_fence_of_a_file_is_not_current_for_its_tree(daemon, tmp_path):
    """Else whoever asks whether its tree is still its own hears yes by the claim of a file in it."""
    file, tree = f"path:{tmp_path}/a.py", f"path:{tmp_path}/**"
    fence = {"fence": daemon.call("POST", "/v1/claims", {"item": file, "own": True}).data["fence"]}
    assert daemon.call("POST", f"/v1/claims/{quote(file)}/check", fence).data["current"]
    wider = daemon.call("POST", f"/v1/claims/{quote(tree)}/check", fence).data
    assert not wider["current"] and "a.py alone" in wider["because"]


def test_one_file_is_one_claim_also_up_from_behind_a_link(
    daemon: Daemon, two: tuple[Agent, Agent], tmp_path: Path
) -> None:
    """`..` behind a link leads up from where the link leads to."""
    first, second = two
    deep = tmp_path / "other" / "dir"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(deep)
    composed = tmp_path / "cafe\u0301"
    composed.symlink_to(deep)
    assert inside(first, daemon, "claim", f"path:{tmp_path}/other/x").code == 0
    assert inside(second, daemon, "claim", f"path:{tmp_path}/link/../x").code == 3
    assert inside(second, daemon, "claim", "path:link/../x", cwd=tmp_path).code == 3
    assert inside(first, daemon, "claim", f"path:{deep}/y").code == 0
    assert inside(second, daemon, "claim", f"path:{composed}/y").code == 3
    assert inside(second, daemon, "claim", "path:/proc/self/cwd/z").code == 2
    assert inside(first, daemon, "release", f"path:{tmp_path}/link/../x").code == 0
