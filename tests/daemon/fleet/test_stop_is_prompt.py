"""A stop is soon, whatever the line to the shared database does at that moment: by design, not by luck."""

import json
import os
import signal
import threading

import pytest

from tests.rig.daemon.fleet import fleet
from tests.rig.daemon.real_daemon import Daemon


@pytest.mark.parametrize("word", [b"LISTEN", b"BEGIN", b"COMMIT"])
def test_a_stop_is_soon_although_the_line_went_silent_under_a_statement(tmp_path, postgres, word):
    """psycopg asks the server to cancel first, and waits ten seconds for that: a line is cut, never cancelled."""
    with fleet(tmp_path, postgres, "alpha") as (alpha,):
        alpha.daemon.kill()
        alpha.line.silent_at(word)
        alpha.daemon.ready()
        assert alpha.line.struck.wait(20)
        assert alpha.daemon.kill(signal.SIGTERM) == 0
        assert "Traceback" not in alpha.daemon.log()


HANGS = """
import socket, threading
right = socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    if host == "db.example":
        open({asked!r}, "w").close()
        threading.Event().wait(60)
    return right(host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""


def test_a_stop_is_soon_although_no_server_of_names_answers(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    asked = tmp_path / "asked"
    (site / "sitecustomize.py").write_text(HANGS.format(asked=str(asked)))
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    daemon = Daemon(tmp_path / "home", PYTHONPATH=path)
    (tmp_path / "home" / "fleet.json").write_text(
        json.dumps({"name": "alpha", "conninfo": "host=db.example dbname=x user=y"})
    )
    daemon.ready()
    try:
        deadline = threading.Event()
        while not asked.exists():
            assert not deadline.wait(0.02)
        assert daemon.kill(signal.SIGTERM) == 0
    finally:
        daemon.stop()
