"""Foreign text that people are shown, and names that people type: cleaned, cut, refused in words.

Text on a terminal, labels with secrets in them, another host's rows, names of hosts, addresses of databases, spans of time.
"""

import json
import shlex
import time

from headcount.agents.kit.labels import LABEL, one_line, path_line, plain, redacted
from headcount.clean_text import clean, cut, cut_middle, pad, width
from headcount.cli.actions import remote_hosts
from headcount.present import time_text
from headcount.present.screen import Screen
from headcount.present.session_words import rows_of
from headcount.present.table import draw
from headcount.store.postgres.address import BadAddress, parse_address, passfile_line, shown, with_passfile
from tests.fuzz.promises import is_label, is_moment, is_shown_plainly, is_text
from tests.fuzz.target import Target
from tests.rig.security.hostile_strings import hostile

NOW = 1_795_000_000.0
SECRET = "ghp_" + "Zq7" * 12


# --- text ------------------------------------------------------------------------------------------


def check_text(data: bytes) -> None:
    text = data.decode("utf-8", "surrogatepass" if b"\xed" in data and _is_pass(data) else "replace")
    said = clean(text)
    is_shown_plainly(said, "cleaned text")
    assert "\n" not in said and len(said) <= len(text)
    assert clean(said) == said, "what is clean stays as it is"
    for cells in (0, 1, 2, 7, 80):
        for made in (cut(said, cells), cut_middle(said, cells)):
            assert width(made) <= cells, f"{width(made)} cells where {cells} are"
            is_shown_plainly(made, "cut text")
        assert width(pad(cut(said, cells), cells)) == cells
    is_label(one_line(text), LABEL, "a label")
    is_label(path_line(text), LABEL, "a path's label")
    is_text(plain(text), "a fact")


def _is_pass(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def naive_text(data: bytes) -> None:
    """Escape sequences taken out by the usual pattern."""
    import re

    is_shown_plainly(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", data.decode("utf-8", "replace")), "text")


def texts() -> list[bytes]:
    return [each.encode("utf-8", "surrogatepass") for each in hostile(300)]


# --- secrets in labels -----------------------------------------------------------------------------


def check_secret(data: bytes) -> None:
    """Whatever stands around a token of a known form, no label shows it; and it is soon done."""
    text = data.decode("utf-8", "replace")
    began = time.process_time()
    made = one_line(redacted(text))
    assert time.process_time() - began < 1.0, "a label took a second"
    is_label(made, LABEL, "a label")
    around = f"{text[:200]} {SECRET} {text[200:300]}"
    assert SECRET not in redacted(around), "a token is shown"


def naive_secret(data: bytes) -> None:
    import re

    around = f"{data.decode('utf-8', 'replace')[:200]} {SECRET}"
    assert SECRET not in re.sub(r"(token|key)=\S+", r"\1=***", around)


def commands() -> list[bytes]:
    return [
        b"curl -H 'Authorization: Bearer abcdef123456' https://x", b"PASSWORD=hunter2 ./run --token abc --api-key=def",
        b"psql postgres://me:secret@host/db", b"curl -u me:secret https://x", b"echo 'passphrase: x'; rotate token now", b"KEY=$(cat x)",
    ]  # fmt: skip


# --- other hosts -----------------------------------------------------------------------------------


def check_hosts(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        hosts = remote_hosts.parse_hosts(text)
    except remote_hosts.BadHost as bad:
        is_text(str(bad), "a refusal")
        return
    assert hosts and len(set(hosts)) == len(hosts)
    for host in hosts:
        command = remote_hosts.command(host, "ps", env={})
        assert not host.startswith("-") and host.isprintable() and not any(sign.isspace() for sign in host)
        assert command[command.index("--") + 1] == host, "a host is never an option"
        assert shlex.split(shlex.join(command)) == command


def naive_hosts(data: bytes) -> None:
    for host in data.decode("utf-8", "replace").split(","):
        command = shlex.split(f"ssh {host} headcount ps")
        assert command[1] == host


def names() -> list[bytes]:
    return [
        b"ws,other",
        b"user@host",
        b"-oProxyCommand=x",
        b"a b",
        b" ws , ws ",
        "w\u202es".encode(),
        b"ws\nother",
        b",,",
    ]


def check_rows(data: bytes) -> None:
    """What another host answered, drawn: any document, no fault, nothing that a terminal obeys."""
    sessions = remote_hosts._sessions(data)
    if sessions is None:
        return
    known = remote_hosts.LastAnswer("ws", sessions, NOW - 5, None)
    rows = rows_of(known.marked(NOW), NOW)
    assert len(rows) == len(sessions)
    for row in rows:
        for text in (
            row.id,
            row.state,
            row.age,
            row.agent,
            row.name,
            row.repo,
            row.doing,
            row.where,
            *row.alarms,
        ):
            is_shown_plainly(text, "a cell")
    for line in draw(rows[:50], Screen(80, colour=False, unicode=True)):
        is_shown_plainly(line, "a line")


def naive_rows(data: bytes) -> None:
    try:
        rows = json.loads(data)["sessions"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for row in rows:
        is_shown_plainly(f"{row['id'][:4]} {row['agent']} {row.get('doing') or ''}", "a line")


def answers() -> list[bytes]:
    row = {
        "id": "4f2a11223344", "agent": "claude-code", "conversation": "c", "pid": 5, "liveness": "alive", "activity": "working",
        "waiting_on": None, "failure": None, "doing": "Bash: npm test", "since": "2026-11-16T02:20:00.000Z", "name": "api",
        "cwd": "/nowhere/at/all", "repo": "api", "branch": "main", "alarms": ["a"], "background": [{"kind": "shell", "label": "x"}],
        "started_at": "2026-11-16T02:20:00.000Z", "last_event_at": "2026-11-16T02:20:00.000Z", "where": "w:1.2",
    }  # fmt: skip
    ended = {
        **row,
        "id": "ab",
        "liveness": "ended",
        "ended": {"at": row["since"], "because": "exited", "kind": "exited", "signal": 9},
    }
    idle = {**row, "id": "cd", "activity": "idle"}
    return [json.dumps({"sessions": rows}).encode() for rows in ([], [row], [row, ended, idle])]


# --- addresses and times ---------------------------------------------------------------------------


def check_address(data: bytes) -> None:
    """The password is in nothing that is kept or shown; what is no address is refused without repeating it."""
    text = data.decode("utf-8", "replace")
    try:
        address = parse_address(text)
    except BadAddress as bad:
        assert text not in str(bad) or len(text) < 20, "a refusal repeats the address"
        return
    full = with_passfile(address.conninfo, "/home/dev/pass")
    if address.password:
        options = address.conninfo.replace("passfile=", "").partition("?")[2]
        assert "password=" not in options, "it is kept beside the place of the others"
        assert passfile_line(address.password).count("\n") == 1, (
            "a password of two lines opens a second entry"
        )
        assert "\0" not in address.password
        if len(address.password) > 5:
            user, _, rest = text.partition("://")[2].partition(":")
            elsewhere = user, rest.partition("@")[2]  # where the same letters stand for something else
            assert address.password not in shown(full) or any(address.password in each for each in elsewhere)
    is_text(shown(full), "an address")


def naive_address(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if text.startswith("postgresql://"):
        user, _, place = text.removeprefix("postgresql://").partition("@")
        assert not place or parse_address(text).password == user.partition(":")[2]


def addresses() -> list[bytes]:
    return [
        b"postgresql://me:secret@host:5432/db?sslmode=require", b"postgres://host/db", b"postgresql://me:p%40ss%3A@h1:1,h2:2/db",
        b"postgresql:///db?host=/run/pg&password=x", b"postgresql://me:two%0Alines@h/db", b"postgresql://[::1]/db", b"host=x password=y",
    ]  # fmt: skip


def check_time(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    is_moment(time_text.parse(text), "a moment")
    length = time_text.parse_span(text)
    is_moment(length, "a span")
    assert length is None or length >= 0
    if length is not None:
        is_text(time_text.span(length), "a span in words")


def naive_time(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if text[-1:] in "smhd":
        is_moment(float(text[:-1] or "0"), "a span")


def spans() -> list[bytes]:
    return [
        b"90",
        b"1h30m",
        b"2d",
        b"0.5h",
        b"1h30",
        b".",
        b"1..5s",
        b"2026-11-15T13:20:05.250Z",
        b"9999-99-99T99:99:99Z",
        b"5s",
    ]


TARGETS = (
    Target("text", check_text, naive_text, texts),
    Target("secret", check_secret, naive_secret, commands),
    Target("hosts", check_hosts, naive_hosts, names),
    Target("host-rows", check_rows, naive_rows, answers),
    Target("address", check_address, naive_address, addresses),
    Target("time", check_time, naive_time, spans),
)
