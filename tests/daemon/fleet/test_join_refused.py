"""A join that comes to nothing: said with a next step that leads somewhere, and with the code of its cause."""

from pathlib import Path
from typing import Any

import pytest

from headcount.daemon.http.request_checks import sentence
from tests.rig.agents.callers import Answer, Errand, Request, detached
from tests.rig.daemon.real_daemon import Daemon

NOBODY = "postgresql://u:secret-word@127.0.0.1:1/x"  # port 1 listens nowhere


def join(daemon: Daemon, place: Path, **wish: Any) -> Answer:
    (answer,) = detached(Errand(place, daemon.socket, [Request("POST", "/v1/fleet/join", wish)]))
    return answer


@pytest.mark.parametrize("address", ["postgresql://", "postgresql://u@h/d?bogus=1", "mysql://h/d"])
def test_an_address_that_cannot_be_read_is_a_wrong_call(daemon: Daemon, tmp_path: Path, address: str) -> None:
    answer = join(daemon, tmp_path, address=address)
    assert (answer.status, answer.code) == (400, "bad-address")


@pytest.mark.parametrize("name", ["", "a b <i>", "-x", "x" * 65, "ws\n"])
def test_a_hosts_name_is_one_word(daemon: Daemon, tmp_path: Path, name: str) -> None:
    answer = join(daemon, tmp_path, address=NOBODY, name=name)
    assert (answer.status, answer.code) == (400, "bad-name")


def test_a_failed_join_sends_nobody_to_the_status_of_no_fleet(daemon: Daemon, tmp_path: Path) -> None:
    answer = join(daemon, tmp_path, address=NOBODY, name="ws")
    error = answer.data["error"]
    assert (answer.status, answer.code) == (503, "fleet-unavailable")
    assert "join again" in error["hint"] and "fleet status" not in error["hint"]
    assert "?." not in error["message"] and "secret-word" not in str(answer.data)
    assert not list(daemon.home.glob("fleet.*")), "nothing of it stays"


@pytest.mark.parametrize(
    ("said", "whole"),
    [("is it up?", "Is it up?"), ("no.", "No."), ("no", "No."), ("gone...", "Gone."), ("", ".")],
)
def test_a_sentence_ends_once(said: str, whole: str) -> None:
    assert sentence(said) == whole


def test_a_file_that_is_gone_is_not_named() -> None:
    from headcount.store.postgres.pool import told

    raw = Exception(
        'FATAL: password authentication failed for user "u" password retrieved from file "/x/fleet.pass"'
    )
    assert str(told(raw)).endswith('failed for user "u"')
