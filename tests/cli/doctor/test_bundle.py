"""The redacted report: it explains a wrong row, and nothing of what people or agents wrote is in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.cli.doctor.bundle import path_of, redacted
from tests.present.test_hostile_strings import EXPLANATION, STATUS
from tests.rig.agents.commands_inside import inside, outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.security.hostile_strings import filled, hostile, word_of

CANARY = "canary7secret"


@pytest.mark.parametrize(
    "canary", [CANARY, f"sk-{CANARY}", f"Bash: curl -H '{CANARY}'", f"/home/{CANARY}/api", CANARY * 9]
)
def test_a_secret_in_any_field_leaves_in_none(canary: str) -> None:
    document = {**filled(EXPLANATION, canary), "more": filled(STATUS, canary), "counts": {canary: 1}}
    kept = json.dumps(redacted(document))
    assert CANARY not in kept


def test_what_people_wrote_is_a_shape_also_when_it_is_hostile() -> None:
    for string in hostile():
        row = {
            name: string
            for name in ("name", "title", "doing", "note", "label", "because", "message", "anything")
        }
        assert word_of(string) not in json.dumps(redacted(row)), repr(string)


def test_a_code_stays_and_its_sentence_leaves_as_its_length() -> None:
    line = {"code": "other-namespace", "because": "killed (SIGKILL)", "why_not": "the hook is newer"}
    assert redacted(line) == {
        "code": "other-namespace",
        "because": "<text, 16 characters>",
        "why_not": "<text, 17 characters>",
    }
    assert redacted({"code": "not a code of ours"}) == {"code": "<text, 18 characters>"}


def test_of_a_path_the_last_part_stays() -> None:
    assert path_of("/srv/me/secret/api", paths=False) == "…/api"
    assert path_of("/srv/me/secret/api", paths=True) == "/srv/me/secret/api"


def test_the_report_of_a_real_session_has_its_evidence_and_no_canary(
    daemon: Daemon, agent: Callable[..., Agent], tmp_path: Path
) -> None:
    place = tmp_path / f"{CANARY}-parent" / "api"
    place.mkdir(parents=True)
    one = agent(cwd=place)
    one.hook(daemon.mailbox, "SessionStart", source=CANARY, model=f"sk-{CANARY}", permission_mode=CANARY)
    session = settled(one, daemon)
    one.hook(daemon.mailbox, "UserPromptSubmit", prompt=f"the key is {CANARY}", **{f"{CANARY}9": 1})
    one.hook(daemon.mailbox, f"Odd{CANARY}", message=CANARY)
    one.hook(
        daemon.mailbox,
        "PermissionRequest",
        tool_name="Bash",
        tool_input={"command": f"deploy --key {CANARY}"},
    )
    assert inside(one, daemon, "claim", f"task:{CANARY}", "--note", CANARY).code == 0
    eventually(lambda: daemon.sessions(id=session, activity="waiting"))
    assert CANARY in json.dumps(daemon.explain(session)), "the wire itself has it"
    made = outside(daemon, "explain", session, "--bundle", cwd=tmp_path)
    assert made.code == 0, made
    (path,) = tmp_path.glob("headcount-report-*.json")
    text = path.read_text()
    assert CANARY not in text
    assert path.stat().st_mode & 0o777 == 0o600
    report = json.loads(text)
    assert report["explanation"]["liveness"]["value"] == "alive"
    codes = {part: report["explanation"][part]["code"] for part in ("liveness", "activity", "binding")}
    assert codes == {"liveness": "alive", "activity": "turn-asked", "binding": "bound"}
    assert report["explanation"]["session"]["cwd"] == "…/api"
    assert {"session.started", "session.activity"} <= {each["type"] for each in report["events"]}
    assert {"check": "store", "level": "ok"} in report["doctor"]
    again = outside(daemon, "explain", session, "--bundle", str(path))
    assert again.code == 1 and path.read_text() == text, "nothing is overwritten"
    whole = outside(daemon, "explain", session, "--bundle", "-", "--paths")
    assert json.loads(whole.out)["explanation"]["session"]["cwd"] == str(place)
