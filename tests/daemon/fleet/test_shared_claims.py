"""A fleet of real daemons on a real PostgreSQL: one holder everywhere, free at its death, lost with its host's lease."""

import os
import signal
import time
import uuid
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.rig.daemon.fleet import Host, fleet
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.cuttable_proxy import CLEAN, SILENT


@pytest.fixture(scope="module")
def standing(tmp_path_factory, postgres):
    with fleet(tmp_path_factory.mktemp("fleet"), postgres, "alpha", "beta") as hosts:
        yield hosts


@pytest.fixture
def pair(standing):
    """Two hosts that hold nothing; they serve all tests that leave them whole."""
    yield standing
    for host in standing:
        for worker in host.workers:
            worker.close()
        host.workers.clear()
        host.line.mend()
    for host in standing:
        host.vouches()
    eventually(lambda: not standing[0].daemon.get("/v1/claims")["claims"])


@pytest.fixture
def task():
    """A name that no other test uses."""
    return f"task:{uuid.uuid4().hex[:8]}"


@pytest.fixture
def pair_alone(tmp_path, postgres):
    with fleet(tmp_path, postgres, "alpha", "beta") as hosts:
        yield hosts


def test_what_one_host_holds_the_other_is_told_of_by_name(pair, task):
    alpha, beta = pair
    a, b = alpha.worker(), beta.worker()
    status, granted = a.claim(task, note="the login")
    assert (status, granted["holder"]["host"]) == (200, "alpha")
    status, refused = b.claim(task)
    assert (status, refused["code"], refused["holder"]["pid"]) == (409, "held", a.pid)
    assert refused["holder"]["host"] == "alpha"
    (row,) = beta.daemon.get("/v1/claims")["claims"]
    assert (row["item"], row["fence"], row["shared"], row["vouched"]) == (task, granted["fence"], True, True)
    assert b.check(task, granted["fence"])


def test_a_death_on_one_host_is_a_grant_on_the_other_with_a_higher_fence(pair, task):
    alpha, beta = pair
    a, b = alpha.worker(), beta.worker()
    fence = a.claim(task)[1]["fence"]
    b.ask("POST", "/v1/claims", {"item": task, "own": True, "wait": 30})
    eventually(lambda: beta.daemon.get("/v1/claims")["claims"][0]["waiting"])
    a.kill()
    status, answer = b.hear()
    assert (status, answer["granted"]) == (200, True)
    assert answer["fence"] > fence
    history = alpha.daemon.get(f"/v1/claims?history={task}")["history"]
    assert [(e["type"], e.get("because"), e["holder"]["host"]) for e in history] == [
        ("claim.granted", None, "alpha"),
        ("claim.released", "died", "alpha"),
        ("claim.granted", None, "beta"),
    ]


def test_paths_ports_and_local_things_stay_with_their_host(pair):
    alpha, beta = pair
    for item in ("path:/src/**", "port:5432", "local:x"):
        assert alpha.worker().claim(item)[0] == 200
        assert beta.worker().claim(item)[0] == 200


def test_fences_grow_over_hosts_and_items(pair):
    workers = [host.worker() for host in pair]
    fences = []
    for nth in range(8):
        worker = workers[nth % 2]
        fences.append(worker.claim(f"task:{nth % 3}")[1]["fence"])
        worker.release(f"task:{nth % 3}")
    assert fences == sorted(set(fences))


def test_the_guard_of_one_host_sees_a_branch_that_is_claimed_on_another(pair):
    alpha, beta = pair
    a, b = alpha.worker(), beta.worker()
    branch = f"branch:repo#{uuid.uuid4().hex[:6]}"
    assert a.claim(branch)[0] == 200
    status, data = b.call("POST", "/v1/guard/git", {"items": [branch, "task:free"]})
    assert (status, [(c["item"], c["holder"]["host"]) for c in data["conflicts"]]) == (
        200,
        [(branch, "alpha")],
    )
    assert a.call("POST", "/v1/guard/git", {"items": [branch]})[1]["conflicts"] == []
    beta.line.cut(CLEAN)
    assert b.call("POST", "/v1/guard/git", {"items": [branch]})[1]["conflicts"] == []


def test_another_hosts_operator_may_force_and_the_holder_learns_it(pair, task):
    alpha, beta = pair
    a = alpha.worker()
    fence = a.claim(task)[1]["fence"]
    answer = beta.operate("DELETE", f"/v1/claims/{task}?force=1")
    assert answer.status == 200, answer
    assert not a.check(task, fence)
    (event,) = eventually(lambda: [e for e in alpha.events("claim.released") if e["item"] == task])
    assert event["because"] == "forced"


@pytest.mark.parametrize("how", [CLEAN, SILENT])
def test_a_host_that_is_cut_off_stops_vouching_before_another_may_take_and_learns_what_it_lost(
    pair, how, task
):
    alpha, beta = pair
    a, b = alpha.worker(), beta.worker()
    fence = a.claim(task)[1]["fence"]
    alpha.line.cut(how)
    b.ask("POST", "/v1/claims", {"item": task, "own": True, "wait": 30})
    refused_at = eventually(lambda: _refused_at(a, task, fence))
    status, answer = b.hear()
    granted_at = time.monotonic()
    assert status == 200 and answer["fence"] > fence
    assert refused_at < granted_at
    status, data = a.call("POST", f"/v1/claims/{task}/check", {"fence": fence})
    assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
    status, data = a.claim("task:other")
    assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
    assert a.claim("path:/here")[0] == 200
    alpha.line.mend()
    alpha.vouches()
    assert not a.check(task, fence)
    lost = eventually(lambda: [e for e in alpha.events("claim.released") if e["item"] == task])
    assert [event["because"] for event in lost] == ["lease-lost"]
    assert eventually(lambda: alpha.events("fleet.away") and alpha.events("fleet.back"))


def _refused_at(worker, task, fence):
    status, _ = worker.call("POST", f"/v1/claims/{task}/check", {"fence": fence})
    return time.monotonic() if status == 503 else None


def test_a_host_that_comes_back_before_anybody_took_it_keeps_its_claim(pair, task):
    alpha, _ = pair
    a = alpha.worker()
    fence = a.claim(task)[1]["fence"]
    alpha.line.cut(CLEAN)
    eventually(lambda: not alpha.status()["vouched"])
    alpha.line.mend()
    alpha.vouches()
    assert a.check(task, fence)
    assert a.claim(task)[1]["fence"] == fence


def test_the_sessions_of_a_host_that_is_away_are_unknown_to_the_others(pair, agent):
    alpha, beta = pair
    stand_in = agent()
    stand_in.hook(alpha.daemon.mailbox, "SessionStart", source="startup")
    mine = {"conversation": stand_in.conversation, "host": "alpha"}
    row = eventually(lambda: _row_of(beta, mine))
    assert row["liveness"] == "alive"
    alpha.daemon.process.send_signal(signal.SIGSTOP)
    try:
        away = eventually(lambda: [h for h in beta.status()["hosts"] if h["state"] == "unknown"])
        assert [host["name"] for host in away] == ["alpha"]
        assert away[0]["age_s"] > 0
        assert _row_of(beta, mine)["liveness"] == "unknown"
    finally:
        alpha.daemon.process.send_signal(signal.SIGCONT)
    eventually(lambda: all(host["state"] == "alive" for host in beta.status()["hosts"]))


def _row_of(host, wanted):
    rows = host.daemon.get("/v1/fleet/sessions")["sessions"]
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return found[0] if found else None


def test_without_the_database_shared_grants_are_refused_and_nothing_is_queued(tmp_path, postgres, task):
    with fleet(tmp_path, postgres, "alpha") as (alpha,):
        a, b = alpha.worker(), alpha.worker()
        alpha.line.cut(CLEAN)
        status, data = a.claim(task)
        assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
        status, data = b.claim(task, wait=0.2)
        assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
        assert a.claim("port:8080")[0] == 200
        assert alpha.daemon.get("/v1/claims")["fleet"] is not None
        assert alpha.daemon.get("/healthz")["ok"]
        alpha.line.mend()
        alpha.vouches()
        assert [c["item"] for c in alpha.daemon.get("/v1/claims")["claims"]] == ["port:8080"]
        assert a.claim(task)[0] == 200


def test_who_waits_hears_that_the_database_is_away_instead_of_waiting_on(pair, task):
    alpha, beta = pair
    alpha.worker().claim(task)
    b = beta.worker()
    b.ask("POST", "/v1/claims", {"item": task, "own": True, "wait": 60})
    eventually(lambda: alpha.daemon.get("/v1/claims")["claims"][0]["waiting"])
    beta.line.cut(SILENT)
    status, data = b.hear()
    assert (status, data["error"]["code"]) == (503, "fleet-unavailable")


def test_a_stop_is_answered_soon_also_while_the_line_swallows_everything(tmp_path, postgres, task):
    with fleet(tmp_path, postgres, "alpha") as (alpha,):
        alpha.line.cut(SILENT)
        alpha.worker().ask("POST", "/v1/claims", {"item": task, "own": True, "wait": 60})
        assert alpha.daemon.kill(signal.SIGTERM) == 0


def test_stale_is_for_good_and_what_a_host_that_is_away_held_is_only_doubted(pair, task):
    alpha, beta = pair
    fence = alpha.worker().claim(task)[1]["fence"]
    b = beta.worker()
    alpha.daemon.process.send_signal(signal.SIGSTOP)
    try:
        asked = lambda: b.call("POST", f"/v1/claims/{task}/check", {"fence": fence})  # noqa: E731
        status, data = eventually(lambda: (answer := asked())[0] == 503 and answer)
        assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
        assert not b.check(task, fence - 1)
    finally:
        alpha.daemon.process.send_signal(signal.SIGCONT)
    alpha.vouches()
    assert b.check(task, fence)


def test_a_restarted_database_costs_no_claim(pair, postgres, task):
    alpha, beta = pair
    a = alpha.worker()
    fence = a.claim(task)[1]["fence"]
    postgres.restart(signal.SIGQUIT)
    for host in pair:
        host.vouches()
    path = (
        f"/v1/claims/{quote(task, safe='')}/check"  # a connection of before the restart may still fail once
    )
    eventually(lambda: a.call("POST", path, {"fence": fence})[0] == 200)
    assert a.check(task, fence)
    assert beta.worker().claim(task)[0] == 409


def test_a_killed_daemon_comes_back_with_its_living_holders_claims_and_without_the_deads(pair_alone, task):
    alpha, beta = pair_alone
    living, dying = alpha.worker(), alpha.worker()
    fence = living.claim(task)[1]["fence"]
    dying.claim("task:other")
    before = {host["name"]: host["epoch"] for host in beta.status()["hosts"]}
    alpha.daemon.kill()
    dying.kill()
    alpha.daemon.ready()
    alpha.vouches()
    assert beta.worker().claim(task)[0] == 409
    b = beta.worker()
    status, answer = b.claim("task:other", wait=20)
    assert status == 200
    rows = {c["item"]: c["fence"] for c in beta.daemon.get("/v1/claims")["claims"]}
    assert rows == {task: fence, "task:other": answer["fence"]}
    epochs = {host["name"]: host["epoch"] for host in beta.status()["hosts"]}
    assert epochs["alpha"] > before["alpha"] and epochs["beta"] == before["beta"]


def test_a_lost_local_store_finds_its_claims_in_the_ledger_again(pair_alone, task):
    alpha, beta = pair_alone
    a = alpha.worker()
    fence = a.claim(task)[1]["fence"]
    alpha.daemon.kill()
    for path in alpha.directory.glob("headcount.db*"):
        path.unlink()
    alpha.daemon.ready()
    alpha.vouches()
    eventually(lambda: [c for c in alpha.daemon.get("/v1/claims")["claims"] if c["fence"] == fence])
    a.kill()
    assert beta.worker().claim(task, wait=20)[0] == 200


def test_leaving_frees_for_all_and_coming_back_is_the_same_host(pair_alone, task):
    alpha, beta = pair_alone
    a = alpha.worker()
    a.claim(task)
    before = {host["name"]: host["id"] for host in beta.status()["hosts"]}
    answer = alpha.operate("POST", "/v1/fleet/leave", {})
    assert (answer.status, answer.data) == (200, {"left": True, "freed": 1, "closed": 0})
    assert beta.worker().claim(task)[0] == 200
    assert [host["name"] for host in beta.status()["hosts"]] == ["beta"]
    assert alpha.status()["joined"] is False
    alpha.joined()
    assert {host["name"]: host["id"] for host in beta.status()["hosts"]} == before


def test_a_copied_home_takes_the_place_and_the_first_stops_vouching(pair_alone, tmp_path, postgres, task):
    alpha, beta = pair_alone
    other = Host(tmp_path, "copy", postgres, database=alpha.database)
    for name in ("host-id", "fleet.json"):
        (other.directory / name).write_bytes((alpha.directory / name).read_bytes())
    with other:
        other.vouches()
        eventually(lambda: not alpha.status()["vouched"])
        assert "another daemon" in alpha.status()["fault"]
        assert alpha.worker().claim(task)[0] == 503
        assert beta.worker().claim(task)[0] == 200


def test_joining_is_refused_while_a_shared_kind_is_held_here(tmp_path, postgres, task):
    with Host(tmp_path, "alpha", postgres) as alpha:
        worker = alpha.worker()
        worker.claim(task)
        worker.claim("port:80")
        answer = alpha.join()
        assert (answer.status, answer.code) == (409, "held-here")
        worker.release(task)
        alpha.joined()


def test_a_name_of_another_living_host_is_refused(pair, tmp_path, postgres):
    with Host(tmp_path, "gamma", postgres, database=pair[0].database) as gamma:
        answer = gamma.join(name="alpha")
        assert (answer.status, answer.code) == (409, "name-taken")
        assert gamma.status()["joined"] is False


def test_a_daemon_that_has_not_joined_does_not_load_the_driver(daemon: Daemon, pair):
    assert "psycopg" not in Path(f"/proc/{daemon.pid}/maps").read_text()
    assert "psycopg" in Path(f"/proc/{pair[0].daemon.pid}/maps").read_text()
    assert not (daemon.home / "host-id").exists()


def test_a_check_and_a_claim_by_the_command_line_exit_as_promised(pair, task):
    import subprocess
    import sys

    alpha, _ = pair
    a = alpha.worker()
    fence = a.claim(task)[1]["fence"]

    def run(*words: str) -> int:
        done = subprocess.run(
            [sys.executable, "-m", "headcount", *words], env={**os.environ, **alpha.daemon.env}, check=False,
            capture_output=True,
        )  # fmt: skip
        return done.returncode

    assert run("check", task, str(fence)) == 0
    assert run("check", task, str(fence + 1)) == 3
    alpha.line.cut(CLEAN)
    eventually(lambda: not alpha.status()["vouched"])
    assert run("check", task, str(fence)) == 4
    assert run("hold", "task:x", "--", "true") == 4
    assert run("fleet", "status", "--json") == 4
