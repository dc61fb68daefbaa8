"""Installing into somebody's settings: merged, refused or given back, never damaged."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.agents.claude_code.hooks import HOOKS
from headcount.agents.claude_code.reports import EVENTS
from headcount.agents.installing import file_change, hook_entries, hook_line_mailbox, settings_file
from headcount.agents.installing.file_change import FileChange, Installed
from headcount.agents.installing.hook_line_mailbox import is_ours
from headcount.agents.installing.json_edit import Invalid, parse
from headcount.agents.installing.settings_file import Refusal

LINES = HOOKS.wanted(Path("/state/mailbox"))

USERS = """{
    "model": "opus",
    "permissions": {"allow": ["Bash(npm test)", "Read"], "deny": []},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}
        ],
        "Stop": [ ],
        "Custom": [{"hooks": [{"type": "command", "command": "x"}]}]
    },
    "env": { "A":"1" }
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "claude").mkdir()
    return tmp_path / "claude"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def installed(root: Path, state: Path, mailbox: str = "mailbox") -> FileChange:
    plan = HOOKS.install(root, state / mailbox, state)
    assert isinstance(plan, FileChange), plan
    return plan


def removed(root: Path, state: Path) -> FileChange:
    plan = HOOKS.uninstall(root, state)
    assert isinstance(plan, FileChange), plan
    return plan


def ours_in(settings: Any) -> dict[str, int]:
    return {
        event: sum(is_ours(h.get("command")) for g in groups for h in g["hooks"])
        for event, groups in settings["hooks"].items()
    }


def test_every_observed_event_gets_one_well_formed_entry(root: Path, state: Path) -> None:
    plan = installed(root, state)
    settings = json.loads((root / "settings.json").read_text())
    assert set(settings["hooks"]) == {row.name for row in EVENTS.installed}
    assert plan.added == len(EVENTS.installed)
    for groups in settings["hooks"].values():
        assert len(groups) == 1
        assert set(groups[0]) == {"hooks"}
        [handler] = groups[0]["hooks"]
        assert handler["type"] == "command" and isinstance(handler["timeout"], int)
    assert "WorktreeCreate" not in settings["hooks"]


def test_existing_settings_are_merged_not_replaced(root: Path, state: Path) -> None:
    (root / "settings.json").write_text(USERS)
    installed(root, state)
    text = (root / "settings.json").read_text()
    settings, before = json.loads(text), json.loads(USERS)
    assert settings["hooks"]["PreToolUse"][0] == before["hooks"]["PreToolUse"][0]
    assert settings["hooks"]["Custom"] == before["hooks"]["Custom"]
    assert list(settings) == list(before)
    for kept in ('"permissions": {"allow": ["Bash(npm test)", "Read"], "deny": []},', '"env": { "A":"1" }'):
        assert kept in text  # formatting of what is not ours
    assert '\n        "SessionStart": [' in text  # ours is laid out like its neighbours


def test_installing_twice_equals_installing_once(root: Path, state: Path) -> None:
    (root / "settings.json").write_text(USERS)
    installed(root, state)
    once = (root / "settings.json").read_bytes()
    second = installed(root, state)
    assert not second.changes
    assert (root / "settings.json").read_bytes() == once
    removed(root, state)
    assert (root / "settings.json").read_text() == USERS


@pytest.mark.parametrize(
    "before",
    [
        USERS,
        "{}",
        "{}\n",
        '{"a":1}',
        '{"hooks":{}}',
        '{\n\t"a": [1,\n2]\n}',
        USERS.replace("\n", "\r\n"),
        "",
        " \n",
    ]
    + ["\ufeff{}\n", '{"hooks": {"Stop": [{"matcher": "", "hooks": []}]}}', '{"ü": "\\u00e9\\ud83d"}'],
    ids=repr,
)
def test_uninstalling_restores_the_file_byte_for_byte(root: Path, state: Path, before: str) -> None:
    (root / "settings.json").write_bytes(before.encode())
    installed(root, state)
    assert (root / "settings.json").read_bytes() != before.encode()
    removed(root, state)
    assert (root / "settings.json").read_bytes() == before.encode()
    assert not list((state / "hooks").iterdir())


def test_uninstall_removes_a_file_that_install_created(root: Path, state: Path) -> None:
    installed(root, state)
    removed(root, state)
    assert not (root / "settings.json").exists()


def test_uninstall_removes_a_directory_that_install_created(tmp_path: Path, state: Path) -> None:
    installed(tmp_path / "new", state)
    assert (tmp_path / "new" / "settings.json").exists()
    removed(tmp_path / "new", state)
    assert not (tmp_path / "new").exists()


def test_only_our_entries_are_removed_if_the_file_was_changed_since(root: Path, state: Path) -> None:
    path = root / "settings.json"
    path.write_text(USERS)
    installed(root, state)
    path.write_text(path.read_text().replace('"model": "opus"', '"model": "sonnet"'))
    removed(root, state)
    assert json.loads(path.read_text()) == {
        **json.loads(USERS),
        "model": "sonnet",
        "hooks": {key: value for key, value in json.loads(USERS)["hooks"].items() if value},
    }


def test_a_file_we_made_is_removed_when_only_our_entries_are_in_it(root: Path, state: Path) -> None:
    path = root / "settings.json"
    installed(root, state)
    path.write_text(path.read_text() + "\n\n")  # an editor saved it
    removed(root, state)
    assert not path.exists()


def test_a_file_we_made_stays_when_it_has_other_entries(root: Path, state: Path) -> None:
    path = root / "settings.json"
    installed(root, state)
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "opus"}))
    removed(root, state)
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_uninstalling_without_remembered_content_removes_only_our_entries(root: Path, state: Path) -> None:
    path = root / "settings.json"
    path.write_text(USERS)
    installed(root, state)
    for memory in (state / "hooks").iterdir():
        memory.unlink()
    removed(root, state)
    settings = json.loads(path.read_text())
    assert settings["hooks"]["PreToolUse"] == json.loads(USERS)["hooks"]["PreToolUse"]
    assert not any(ours_in(settings).values())


def test_an_earlier_line_is_updated_in_place(root: Path, state: Path) -> None:
    path = root / "settings.json"
    path.write_text(USERS)
    installed(root, state, "old-mailbox")
    assert HOOKS.standing(root, state / "mailbox").state is Installed.OUTDATED
    plan = installed(root, state)
    assert (plan.added, plan.renewed) == (0, len(EVENTS.installed))
    settings = json.loads(path.read_text())
    assert set(ours_in(settings).values()) == {1, 0}  # 0: Custom, which is not ours
    assert "old-mailbox" not in path.read_text()
    removed(root, state)
    assert path.read_text() == USERS


def test_our_obsolete_entries_are_removed(root: Path, state: Path) -> None:
    text = hook_entries.merged(USERS, {**LINES, "MessageDisplay": LINES["Stop"]})
    again = json.loads(hook_entries.merged(text, LINES))
    assert "MessageDisplay" not in again["hooks"]


def test_our_handler_is_removed_from_a_foreign_group_without_the_others(root: Path, state: Path) -> None:
    group = {
        "matcher": "x",
        "hooks": [{"command": "a"}, {"type": "command", "command": LINES["Stop"]}, {"command": "b"}],
    }
    clean = json.loads(hook_entries.without(json.dumps({"hooks": {"Stop": [group]}})))
    assert clean == {"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "a"}, {"command": "b"}]}]}}


REFUSED = {
    "trailing comma": ('{\n  "a": 1,\n}', 2, "trailing comma"),
    "trailing comma in a list": ('{"a": [1,]}', 1, "trailing comma"),
    "line comment": ('{\n  // mine\n  "a": 1}', 2, "comment"),
    "block comment": ('{"a": 1 /* x */}', 1, "comment"),
    "a key twice": ('{"hooks": {},\n "hooks": {}}', 2, "stands twice"),
    "not closed": ('{"a": 1', 1, "ends too early"),
    "single quotes": ("{'a': 1}", 1, "single quotes"),
    "no comma": ('{"a": 1\n "b": 2}', 2, "comma is missing"),
    "more behind": ("{}\n{}", 2, "after the end"),
    "not a number": ('{"a": NaN}', 1, "misspelt"),
    "raw line break in a string": ('{"a": "x\ny"}', 1, "string"),
    "a list": ("[]", None, "not an object"),
    "hooks is a list": ('{"hooks": []}', None, "not an object"),
    "an event is no list": ('{"hooks": {"Stop": {}}}', None, "not a list"),
    "nested too deeply": ('{"a":' + "[" * 5000 + "]" * 5000 + "}", 1, "deep"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unparsable_file_is_refused_untouched_with_the_reason(root: Path, state: Path, case: str) -> None:
    text, at_line, reason = REFUSED[case]
    (root / "settings.json").write_text(text)
    for refusal in (HOOKS.install(root, state / "mailbox", state), HOOKS.uninstall(root, state)):
        assert isinstance(refusal, Refusal)
        assert reason in refusal.why
        assert refusal.line == at_line
        assert str(refusal).endswith("Nothing written.")
    assert (root / "settings.json").read_text() == text
    assert sorted(os.listdir(root)) == ["settings.json"]
    assert HOOKS.standing(root, state / "mailbox").state is Installed.UNREADABLE


def test_a_file_that_is_not_utf8_is_refused_untouched(root: Path, state: Path) -> None:
    (root / "settings.json").write_bytes(b'{"a": "\xff"}')
    refusal = HOOKS.install(root, state / "mailbox", state)
    assert isinstance(refusal, Refusal) and "UTF-8" in refusal.why
    assert (root / "settings.json").read_bytes() == b'{"a": "\xff"}'


def test_the_line_is_tried_before_anything_is_written(
    root: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_line_mailbox, "why_not", lambda mailbox: "the line exited 2")
    refusal = HOOKS.install(root, state / "mailbox", state)
    assert isinstance(refusal, Refusal) and "exited 2" in refusal.why
    assert list(root.iterdir()) == []


def test_file_mode_is_kept_and_a_link_stays_a_link(root: Path, state: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    (root / "settings.json").symlink_to(real)
    installed(root, state)
    assert (root / "settings.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert len(json.loads(real.read_text())["hooks"]) == len(EVENTS.installed)
    removed(root, state)
    assert (root / "settings.json").is_symlink() and real.read_text() == "{}"


@pytest.mark.root
def test_the_owner_stays(root: Path, state: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make another user's file")
    (root / "settings.json").write_text("{}")
    os.chown(root / "settings.json", 1234, 1235)
    installed(root, state)
    assert ((root / "settings.json").stat().st_uid, (root / "settings.json").stat().st_gid) == (1234, 1235)


def test_a_concurrent_change_is_not_overwritten(root: Path, state: Path) -> None:
    path = root / "settings.json"
    path.write_text("{}")
    plan = HOOKS.plan_install(root, state / "mailbox", state)
    assert isinstance(plan, FileChange)
    path.write_text('{"model": "opus"}')
    assert isinstance(file_change.carry_out(plan), Refusal)
    assert path.read_text() == '{"model": "opus"}'
    installed(root, state)  # and the next try merges with it
    assert json.loads(path.read_text())["model"] == "opus"


def test_an_unwritable_place_is_reported_and_left_alone(root: Path, state: Path) -> None:
    (root / "settings.json").mkdir()
    assert isinstance(HOOKS.install(root, state / "mailbox", state), Refusal)


def test_remembered_settings_are_private(root: Path, state: Path) -> None:
    (root / "settings.json").write_text('{"env": {"KEY": "secret"}}')
    installed(root, state)
    [memory] = (state / "hooks").iterdir()
    assert memory.stat().st_mode & 0o777 == 0o600
    assert memory.parent.stat().st_mode & 0o777 == 0o700


def test_a_dry_run_shows_the_change_and_writes_nothing(root: Path, state: Path) -> None:
    (root / "settings.json").write_text(USERS)
    plan = HOOKS.plan_install(root, state / "mailbox", state)
    assert isinstance(plan, FileChange)
    shown = file_change.diff(plan)
    assert '+        "SessionStart": [' in shown
    assert (root / "settings.json").read_text() == USERS
    assert not state.exists()


def test_status_reports_what_is_installed(root: Path, state: Path) -> None:
    mailbox = state / "mailbox"
    assert HOOKS.standing(root, mailbox).state is Installed.ABSENT
    installed(root, state)
    assert HOOKS.standing(root, mailbox).state is Installed.INSTALLED
    path = root / "settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps({**settings, "disableAllHooks": True}))
    partial = HOOKS.standing(root, mailbox)
    assert (partial.state, partial.events) == (Installed.PARTIAL, len(EVENTS.installed) - 1)
    assert "switched off" in partial.note


def test_a_crash_between_remembering_and_writing_loses_nothing(
    root: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "settings.json").write_text(USERS)
    with monkeypatch.context() as patch:
        patch.setattr(settings_file, "replace", lambda *_: Refusal(root, "power cut"))
        assert isinstance(HOOKS.install(root, state / "mailbox", state), Refusal)
    removed(root, state)
    assert (root / "settings.json").read_text() == USERS


SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=2)}
)
HOOKS_MEMBER = st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Odd"]), st.lists(GROUP, max_size=2))


@settings(deadline=None, max_examples=40)
@given(
    rest=st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), SETTINGS, max_size=4),
    there=st.none() | HOOKS_MEMBER,
    indent=st.sampled_from([None, 2, 4, "\t"]),
)
def test_any_settings_survive_merging_and_removing_our_entries(rest: Any, there: Any, indent: Any) -> None:
    whole = rest if there is None else {**rest, "hooks": there}
    text = json.dumps(whole, indent=indent)
    both = hook_entries.merged(text, LINES)
    assert hook_entries.merged(both, LINES) == both
    assert {key: value for key, value in json.loads(both).items() if key != "hooks"} == rest
    back = json.loads(hook_entries.without(both))
    kept = {event: groups for event, groups in (there or {}).items() if groups or event not in LINES}
    assert back == (rest | ({"hooks": kept} if kept else {}))


@given(SETTINGS, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_reading_with_positions_agrees_with_the_standard_reader(
    value: Any, indent: Any, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).value == value


@given(st.text(alphabet='{}[]",:1a \n/*\\u', max_size=30))
def test_json_that_the_standard_parser_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(Invalid):
            parse(text)
        return
    try:
        assert parse(text).value == expected
    except Invalid as error:
        assert "stands twice" in error.reason
