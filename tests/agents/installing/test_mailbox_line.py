"""The line that agents' hooks run: silent, exit 0, whatever is broken."""

import os
import subprocess
from pathlib import Path

import pytest

from headcount.agents.installing import hook_line_mailbox
from headcount.agents.installing.hook_line_mailbox import FLAG, Unquotable, is_ours, line, why_not

ODD_NAMES = [
    "plain",
    "with space",
    "it's",
    'say "hi"',
    "$HOME",
    "`id`",
    "back\\slash",
    "ünï",
    "a;b&c|d",
    "-n",
    "*",
]


def run(command: str, given: bytes = b"{}") -> tuple[int, bytes, bytes, int]:
    done = subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = done.communicate(given)
    return done.returncode, out, err, done.pid


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("listening", [False, True])
def test_an_event_is_written_after_the_agents_stat_line(tmp_path: Path, name: str, listening: bool) -> None:
    mailbox = tmp_path / name
    mailbox.mkdir()
    (mailbox / FLAG).touch()
    code, out, err, pid = run(line(mailbox, only_while_listening=listening), b'{"a":1}')
    assert (code, out, err) == (0, b"", b"")
    drop = mailbox / f"{os.getpid()}.{pid}"
    first, _, rest = drop.read_bytes().partition(b"\n")
    assert rest == b'{"a":1}'
    assert first == Path("/proc/self/stat").read_bytes().split(b"\n")[0] or first.startswith(
        b"%d (" % os.getpid()
    )
    assert (
        first.rpartition(b")")[2].split()[19]
        == Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19]
    )
    assert drop.stat().st_mode & 0o777 == 0o600


def test_per_tool_events_are_not_written_without_a_daemon(tmp_path: Path) -> None:
    code, out, err, _ = run(line(tmp_path, only_while_listening=True), b"x" * 500_000)
    assert (code, out, err) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("listening", [False, True])
def test_a_missing_mailbox_fails_silently(tmp_path: Path, listening: bool) -> None:
    code, out, err, _ = run(line(tmp_path / "gone", only_while_listening=listening), b"x" * 500_000)
    assert (code, out, err) == (0, b"", b"")
    assert not (tmp_path / "gone").exists()


def test_a_mailbox_that_is_a_file_fails_silently(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run(line(tmp_path / "file", only_while_listening=False))[:3] == (0, b"", b"")


def test_a_line_without_the_outer_parenthesis_would_have_blocked_the_agents_tool(tmp_path: Path) -> None:
    """The naive line of accident H17, as the control: dash exits 2 on a failed redirection."""
    if os.path.realpath("/bin/sh").endswith("dash"):
        assert run(f"exec cat >>{tmp_path}/gone/x")[0] == 2


@pytest.mark.parametrize("place", ["relative", "/a\nb", "/a\x00b", "/a\x7f"])
def test_a_path_that_cannot_be_quoted_is_refused(place: str) -> None:
    with pytest.raises(Unquotable):
        line(Path(place), only_while_listening=False)


def test_our_lines_are_recognised_for_any_state_directory_and_version() -> None:
    assert is_ours(line(Path("/a/b"), only_while_listening=False))
    assert is_ours(line(Path("/other it's"), only_while_listening=True))
    assert is_ours(
        "(umask 077; { read -r s </proc/$PPID/stat; printf '%s\\n' \"$s\"; exec cat; } "
        '>>"/x/mailbox/$PPID.$$") 2>/dev/null; exit 0'
    )
    for foreign in ("echo hi", "# headcount", "headcount ps", None, 7, "cat >> /x/mailbox/$PPID.$$"):
        assert not is_ours(foreign)


def test_the_trial_passes_here_and_leaves_nothing(tmp_path: Path) -> None:
    assert why_not(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    assert why_not(tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [("exit 2", "exited 2"), ("echo hi", "printed"), ("echo hi >&2", "printed"), ("true", "did not drop")],
)
def test_a_line_that_does_not_work_is_caught_by_its_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, complaint: str
) -> None:
    monkeypatch.setattr(hook_line_mailbox, "line", lambda mailbox, only_while_listening: broken)
    assert complaint in str(hook_line_mailbox.why_not(tmp_path))
