"""Joining, leaving and going on: one at a time, nothing half, and nothing local in danger."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.rig.daemon.fleet import Host
from tests.rig.daemon.real_daemon import Daemon, eventually

NO_DRIVER = """
import sys
sys.modules["psycopg"] = None
"""


def _with_site(tmp_path, code):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(code)
    return os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_a_daemon_starts_although_the_driver_of_its_fleet_is_gone(tmp_path, agent):
    daemon = Daemon(tmp_path / "home", PYTHONPATH=_with_site(tmp_path, NO_DRIVER))
    (daemon.home / "fleet.json").write_text(json.dumps({"name": "a", "conninfo": "host=db dbname=x"}))
    _is_up_without_a_fleet(daemon, ".[fleet]")


def test_a_daemon_starts_although_the_file_of_its_fleet_is_damaged(tmp_path):
    daemon = Daemon(tmp_path / "home")
    (daemon.home / "fleet.json").write_text("{")
    _is_up_without_a_fleet(daemon, "fleet leave --anyway")


def _is_up_without_a_fleet(daemon, words):
    from tests.rig.claims.claiming_process import Worker

    with daemon:
        status = daemon.get("/v1/fleet")
        assert (status["joined"], status["vouched"]) == (True, False)
        assert words in status["fault"]
        worker = Worker(daemon)
        try:
            assert worker.claim("port:80")[0] == 200
            answer, data = worker.claim("task:x")  # not granted by our own ledger: others may hold it
            assert (answer, data["error"]["code"]) == (503, "fleet-unavailable")
        finally:
            worker.close()
        assert words in daemon.get("/v1/claims")["fleet"]
        assert any(words in warning for warning in daemon.get("/v1/status")["warnings"])
        for path in ("/healthz", "/v1/sessions?all=1", "/v1/leftovers", "/metrics"):
            daemon.get(path)


def test_two_that_join_at_once_are_one_after_the_other_and_one_member(tmp_path, postgres):
    with Host(tmp_path, "alpha", postgres) as alpha, ThreadPoolExecutor(2) as pool:
        (tmp_path / "one").mkdir()
        answers = list(pool.map(lambda _: alpha.join(), range(2)))
        assert [answer.status for answer in answers] == [200, 200]
        alpha.vouches()
        assert alpha.worker().claim("task:x")[0] == 200
        names = eventually(lambda: postgres.ask("SELECT name FROM headcount.hosts", alpha.database))
        assert names == [("alpha",)]


def test_while_it_joins_nobody_is_granted_what_will_be_shared(tmp_path, postgres):
    """A grant by our own ledger in that moment would be known to nobody else."""
    with Host(tmp_path, "alpha", postgres) as alpha:
        alpha.line.silent_at(b"INSERT INTO headcount.hosts")
        worker = alpha.worker()
        answers = []
        joining = threading.Thread(target=lambda: answers.append(alpha.join()))
        joining.start()
        assert alpha.line.struck.wait(20)
        status, data = worker.claim("task:x")
        assert (status, data["error"]["code"]) == (503, "fleet-unavailable")
        assert worker.claim("local:x")[0] == 200
        joining.join(20)
        assert answers[0].status == 503
        assert alpha.status()["joined"] is False
        assert worker.claim("task:x")[0] == 200


def test_a_stop_while_it_joins_is_soon_and_leaves_no_password(tmp_path, postgres):
    with Host(tmp_path, "alpha", postgres) as alpha:
        alpha.line.silent_at(b"INSERT INTO headcount.hosts")
        address = alpha.address.replace("postgres@", "postgres:s3cr3t@")
        joining = threading.Thread(target=lambda: _quietly(lambda: alpha.join(address=address)))
        joining.start()
        assert alpha.line.struck.wait(20)
        assert alpha.daemon.kill(signal.SIGTERM) == 0
        joining.join(20)
        assert not (alpha.directory / "fleet.pass").exists()
        assert not (alpha.directory / "fleet.json").exists()


def _quietly(ask):
    try:
        ask()
    except Exception:  # the daemon goes away under it
        return


def test_a_leave_that_the_database_does_not_hear_changes_nothing(tmp_path, postgres):
    with Host(tmp_path, "alpha", postgres) as alpha:
        alpha.joined()
        worker = alpha.worker()
        fence = worker.claim("task:x")[1]["fence"]
        alpha.line.cut("clean")
        answer = alpha.operate("POST", "/v1/fleet/leave", {})
        assert answer.status == 503
        alpha.line.mend()
        alpha.vouches()
        assert worker.check("task:x", fence)
