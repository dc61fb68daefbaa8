"""The password of a fleet's database is in one private file, and nowhere else."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.daemon.fleet import Host
from tests.rig.network.postgres import Postgres

SECRET = "s3cr3t-pa55"


@pytest.fixture(scope="module")
def guarded():
    with Postgres(auth="scram-sha-256", password=SECRET) as server:
        yield server


def test_the_password_is_in_no_listing_log_event_argument_or_environment(tmp_path, guarded):
    with Host(tmp_path, "alpha", guarded) as alpha:
        answer = alpha.join()
        assert answer.status == 200, answer
        said = json.dumps(answer.data)
        for path in ("/v1/fleet", "/v1/status", "/v1/history?limit=1000", "/v1/claims", "/metrics"):
            said += str(alpha.daemon.call("GET", path).data)
        words = [sys.executable, "-m", "headcount", "fleet", "status"]
        done = subprocess.run(words, env=alpha.daemon.env, capture_output=True, check=True)
        said += done.stdout.decode() + done.stderr.decode()
        for name in ("cmdline", "environ"):
            said += Path(f"/proc/{alpha.daemon.pid}/{name}").read_bytes().decode()
        assert SECRET not in said
        holds = [path for path in alpha.directory.rglob("*") if path.is_file() and _holds(path)]
        errands = [path for path in holds if path.parent.name == "errands"]  # the test's own
        assert [path.name for path in holds if path not in errands] == ["fleet.pass"]
        for name in ("fleet.pass", "fleet.json", "host-id"):
            assert stat.S_IMODE((alpha.directory / name).stat().st_mode) == 0o600
        alpha.daemon.restart()
        alpha.vouches()  # the file is enough
        assert alpha.operate("POST", "/v1/fleet/leave", {}).status == 200
        assert not (alpha.directory / "fleet.pass").exists()


def _holds(path: Path) -> bool:
    return SECRET.encode() in path.read_bytes()


def test_a_wrong_password_is_refused_without_being_repeated_and_nothing_stays(tmp_path, guarded):
    with Host(tmp_path, "alpha", guarded) as alpha:
        wrong = alpha.address.replace(SECRET, "wr0ng-pa55")
        answer = alpha.join(address=wrong)
        assert (answer.status, answer.code) == (503, "fleet-unavailable")
        assert "wr0ng-pa55" not in json.dumps(answer.data)
        assert "wr0ng-pa55" not in alpha.daemon.log()
        assert not (alpha.directory / "fleet.pass").exists()
        assert not (alpha.directory / "fleet.json").exists()


def test_a_changed_password_is_given_by_joining_anew_and_costs_no_claim(tmp_path):
    with Postgres(auth="scram-sha-256", password=SECRET) as server, Host(tmp_path, "alpha", server) as alpha:
        alpha.joined()
        worker = alpha.worker()
        fence = worker.claim("task:x")[1]["fence"]
        server.ask("ALTER ROLE postgres PASSWORD 'an0ther'")
        wrong = alpha.join(address=alpha.address.replace(SECRET, "wr0ng"))
        assert wrong.status == 503
        assert (alpha.directory / "fleet.pass").read_text().endswith(f":{SECRET}\n")
        other = alpha.join(address=alpha.address.replace(alpha.database, "elsewhere"))
        assert (other.status, other.code) == (409, "joined")
        server.password = "an0ther"
        assert alpha.join().status == 200
        alpha.vouches()
        assert worker.check("task:x", fence)
        alpha.daemon.restart()
        alpha.vouches()
        assert alpha.worker().check("task:x", fence)
