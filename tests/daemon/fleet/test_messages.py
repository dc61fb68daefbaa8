"""What a fleet says to people: who holds it and where, what is in doubt and until when, and that the database is away."""

import signal
import subprocess
import sys

import pytest

from tests.rig.daemon.fleet import fleet
from tests.rig.daemon.real_daemon import eventually
from tests.rig.network.cuttable_proxy import CLEAN

TASK = "task:login"


@pytest.fixture
def pair(tmp_path, postgres):
    with fleet(tmp_path, postgres, "alpha", "beta", factor=0.1) as hosts:
        yield hosts


def run(host, *words):
    done = subprocess.run(
        [sys.executable, "-m", "headcount", *words],
        env=host.daemon.env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def living(host, agent, name):
    """A session of that name on that host."""
    stand_in = agent()
    stand_in.hook(host.daemon.mailbox, "SessionStart", source="startup")
    session = host.daemon.session(conversation=stand_in.conversation)
    assert host.operate("PATCH", f"/v1/sessions/{session['id']}", {"name": name}).status in (200, 404, 405)
    return stand_in, host.daemon.session(conversation=stand_in.conversation)


def test_a_holder_on_another_host_is_named_with_its_host_and_never_as_one_of_ours(pair, agent):
    alpha, beta = pair
    _, there = living(alpha, agent, "theirs")
    _, here = living(beta, agent, "ours")
    assert there["id"] != here["id"]
    assert alpha.operate("POST", "/v1/claims", {"item": TASK, "as": there["id"]}).status == 200
    beta.worker()
    rows = eventually(lambda: [r for r in beta.daemon.get("/v1/claims")["claims"] if r["holder"]["name"]])
    holder = rows[0]["holder"]
    assert (holder["session"], holder["host"], holder["here"]) == (there["id"], "alpha", False)
    status, data = beta.workers[0].claim(TASK)
    assert status == 409
    assert data["because"].startswith(f"Held by {there['id'][:4]} {holder['name']} on alpha (alive")
    code, said = run(beta, "claims")
    assert code == 0 and f"{there['id'][:4]} {holder['name']} on alpha" in said
    own = alpha.daemon.get("/v1/claims")["claims"][0]["holder"]
    assert (own["here"], own["session"]) == (True, there["id"])
    history = beta.daemon.get(f"/v1/claims?history={TASK}")["history"]
    assert history[0]["holder"]["here"] is False


def test_an_id_that_two_hosts_share_is_still_not_ours(pair, agent, postgres):
    """Of an earlier version, or by chance: the host decides, not the number."""
    alpha, beta = pair
    _, here = living(beta, agent, "ours")
    worker = alpha.worker()
    assert worker.claim(TASK)[0] == 200
    postgres.ask(
        "UPDATE headcount.claims SET body = (body::jsonb || jsonb_build_object('session', "
        f"'{here['id']}'))::text",
        alpha.database,
    )
    (row,) = beta.daemon.get("/v1/claims")["claims"]
    assert (row["holder"]["here"], row["holder"]["host"], row["holder"]["name"]) == (False, "alpha", None)
    assert " on alpha" in beta.worker().claim(TASK)[1]["because"]


def test_a_claim_of_a_host_that_is_away_is_in_doubt_and_says_until_when(pair):
    alpha, beta = pair
    assert alpha.worker().claim(TASK)[0] == 200
    b = beta.worker()
    alpha.daemon.process.send_signal(signal.SIGSTOP)
    try:
        row = eventually(
            lambda: [r for r in beta.daemon.get("/v1/claims")["claims"] if not r["vouched"]], within=20
        )[0]
        assert row["free_in_s"] is not None
        code, said = run(beta, "claims")
        assert code == 0 and ("in doubt: alpha is not heard of" in said or "Nothing is claimed" in said)
        status, data = b.claim(TASK)
        assert status == 200 or "alpha has not been heard of" in data["because"]
    finally:
        alpha.daemon.process.send_signal(signal.SIGCONT)


def test_status_says_at_once_that_the_database_is_away_and_shows_the_last_it_knew(pair):
    alpha, _ = pair
    eventually(lambda: len(alpha.status()["hosts"]) == 2)
    alpha.worker().claim(TASK)
    alpha.line.cut(CLEAN)
    status = alpha.status()
    assert status["fault"]
    assert {host["name"]: host["state"] for host in status["hosts"]} == {
        "alpha": "unknown",
        "beta": "unknown",
    }
    code, said = run(alpha, "fleet", "status")
    assert code == 4 and "!" in said and "beta" in said
    code, said = run(alpha, "claims")
    assert code == 0 and TASK in said and "only those of this host are listed" in said


def test_a_leave_that_cannot_be_told_names_the_way_and_says_what_stays_closed(pair):
    alpha, _ = pair
    alpha.worker().claim(TASK)
    alpha.line.cut(CLEAN)
    answer = alpha.operate("POST", "/v1/fleet/leave", {})
    assert (answer.status, "--anyway" in answer.data["error"]["hint"]) == (503, True)
    answer = alpha.operate("POST", "/v1/fleet/leave", {"anyway": True})
    assert (answer.status, answer.data["freed"], answer.data["closed"]) == (200, 0, 1)


def test_who_takes_a_claim_from_another_host_is_told_from_where(pair):
    alpha, beta = pair
    alpha.worker().claim(TASK)
    answer = beta.operate("DELETE", f"/v1/claims/{TASK}?force=1")
    assert (answer.status, answer.data["host"]) == (200, "alpha")
