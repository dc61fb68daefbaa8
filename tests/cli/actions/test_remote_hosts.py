"""Other hosts over ssh: a real sshd, a host that does not answer, and no ssh at all."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from headcount.cli.actions import remote_hosts
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.sshd import Sshd, is_possible

HEADCOUNT = [sys.executable, "-m", "headcount"]


def run(daemon: Daemon, *words: str, ssh: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*HEADCOUNT, *words],
        env={**daemon.env, "HEADCOUNT_SSH": ssh},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def there(tmp_path):
    """Another machine's home, and a `headcount` on the PATH there."""
    with Daemon(tmp_path / "there") as daemon:
        site = tmp_path / "bin"
        site.mkdir()
        program = site / "headcount"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m headcount "$@"\n')
        program.chmod(0o755)
        daemon.env["PATH"] = f"{site}:{os.environ['PATH']}"
        yield daemon


@pytest.mark.skipif(not is_possible(), reason="there is no sshd here")
def test_rows_of_another_host_come_over_plain_ssh_and_stay_when_it_is_gone(daemon, there, agent, tmp_path):
    here, far = agent(), agent()
    here.hook(daemon.mailbox, "SessionStart", source="startup")
    far.hook(there.mailbox, "SessionStart", source="startup")
    daemon.session(conversation=here.conversation)
    there.session(conversation=far.conversation)
    with Sshd(tmp_path / "sshd", there.env) as server:
        done = run(daemon, "ps", "--host", "127.0.0.1", "--json", ssh=server.ssh)
        assert done.returncode == 0, done.stderr
        hosts = by_host(done.stdout)
        assert hosts[here.conversation, "here"]["host_state"] == "alive"
        row = hosts[far.conversation, "127.0.0.1"]
        assert (row["liveness"], row["host_state"]) == ("alive", "alive")
        table = run(daemon, "ps", "--host", "127.0.0.1", ssh=server.ssh).stdout
        assert "HOST" in table and "127.0.0.1" in table
        kept = list((daemon.home / "hosts").iterdir())
        assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
        server.stop()
        done = run(daemon, "ps", "--host", "127.0.0.1", "--json", ssh=server.ssh)
        assert done.returncode == 0
        row = by_host(done.stdout)[far.conversation, "127.0.0.1"]
        assert (row["liveness"], row["host_state"]) == ("unknown", "unknown")
        assert row["host_age_s"] > 0
        (away,) = (host for host in json.loads(done.stdout)["hosts"] if host["state"] == "unknown")
        assert away["fault"]


def by_host(text: str) -> dict[tuple[str, str], dict[str, object]]:
    return {(row["conversation"], row["host"]): row for row in json.loads(text)["sessions"]}


@pytest.mark.skipif(not is_possible(), reason="there is no sshd here")
def test_watch_tells_of_both_hosts_in_one_stream(daemon, there, agent, tmp_path):
    with Sshd(tmp_path / "sshd", there.env) as server:
        with open(tmp_path / "out", "wb") as out:
            watching = subprocess.Popen(
                [*HEADCOUNT, "watch", "--host", "127.0.0.1", "--json"],
                env={**daemon.env, "HEADCOUNT_SSH": server.ssh},
                stdout=out,
            )
        try:
            eventually(lambda: {"here", "127.0.0.1"} <= {e["host"] for e in lines(tmp_path)}, within=30)
            far = agent()
            far.hook(there.mailbox, "SessionStart", source="startup")
            eventually(
                lambda: [
                    e
                    for e in lines(tmp_path)
                    if e["host"] == "127.0.0.1"
                    and (e.get("session") or {}).get("conversation") == far.conversation
                ]
            )
            server.stop()
        finally:
            watching.terminate()
            watching.wait(10)


@pytest.mark.skipif(not is_possible(), reason="there is no sshd here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_watch_of_another_host_that_is_told_to_end_leaves_no_ssh_and_no_watch_there(
    daemon, there, agent, tmp_path, number
):
    with Sshd(tmp_path / "sshd", there.env) as server:
        env = {**daemon.env, "HEADCOUNT_SSH": server.ssh}
        watch = subprocess.Popen(
            [*HEADCOUNT, "watch", "--json", "--host", "127.0.0.1"], env=env, stdout=subprocess.PIPE
        )
        try:
            assert watch.stdout is not None
            heard = set()
            while heard != {"here", "127.0.0.1"}:
                heard.add(json.loads(watch.stdout.readline())["host"])
            assert watching(there) and children(watch.pid)
            ssh = children(watch.pid)
            watch.send_signal(number)
            assert watch.wait(30) == -number
            eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in ssh))
            eventually(lambda: not watching(there))
        finally:
            watch.kill()
            watch.wait()
            watch.stdout.close()


def watching(there: Daemon) -> list[int]:
    """The processes of `watch` over there."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words, env = (each / "cmdline").read_bytes().split(b"\0"), (each / "environ").read_bytes()
        except OSError:
            continue
        if b"watch" in words and f"HEADCOUNT_HOME={there.home}\0".encode() in env:
            found.append(int(each.name))
    return found


def children(pid: int) -> list[int]:
    return [
        int(each)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for each in (task / "children").read_text().split()
    ]


def lines(directory: Path) -> list[dict[str, object]]:
    text = (directory / "out").read_text()
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def test_without_ssh_and_without_memory_a_host_is_unknown_and_the_rest_is_shown(daemon):
    done = run(daemon, "ps", "--host", "ws", "--json", ssh="/nowhere/ssh")
    assert done.returncode == 0
    (host,) = (each for each in json.loads(done.stdout)["hosts"] if each["name"] == "ws")
    assert (host["state"], host["age_s"]) == ("unknown", None)
    assert "ssh could not be run" in host["fault"]


def test_a_host_that_answers_nonsense_is_unknown(daemon, tmp_path):
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\necho '{\"sessions\": [1]}'\n")
    program.chmod(0o755)
    done = run(daemon, "ps", "--host", "ws", "--json", ssh=str(program))
    (host,) = (each for each in json.loads(done.stdout)["hosts"] if each["name"] == "ws")
    assert host["state"] == "unknown"


def test_what_another_host_says_is_cleaned_before_it_is_shown(daemon, tmp_path):
    row = {"id": "abcd", "name": "\x1b]52;c;cHduZWQ=\x07evil", "liveness": "alive", "activity": "working"}
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps({'sessions': [row]})}\nE\n")
    program.chmod(0o755)
    done = run(daemon, "ps", "--host", "ws", ssh=str(program))
    assert "evil" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "a b", ",", ""])
def test_a_name_that_could_be_an_option_is_refused(daemon, name):
    assert run(daemon, "ps", f"--host={name}", ssh="/nowhere/ssh").returncode == 2


def answering(tmp_path: Path, *lines: str) -> str:
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\ncat <<'E'\n" + "\n".join(lines) + "\nE\n")
    program.chmod(0o755)
    return str(program)


def test_a_shell_that_greets_everybody_hides_no_rows(tmp_path):
    answer = json.dumps({"sessions": [{"id": "abcd", "name": "far"}]})
    ssh = answering(tmp_path, "Last login: Mon Nov 16", '{"motd": 1}', answer, "bye")
    env = {"HEADCOUNT_SSH": ssh, "HEADCOUNT_HOME": str(tmp_path)}
    known = remote_hosts.ask("ws", ended=False, env=env)
    assert (known.fault, [row["name"] for row in known.sessions]) == (None, ["far"])
    with pytest.raises(ValueError, match="Expecting value"):  # the naive way takes all for one document
        json.loads("Last login: Mon Nov 16\n" + answer)


def test_a_host_that_says_something_else_is_unknown_with_its_words(tmp_path):
    env = {"HEADCOUNT_SSH": answering(tmp_path, "Last login"), "HEADCOUNT_HOME": str(tmp_path)}
    assert remote_hosts.ask("ws", ended=False, env=env).fault == 'it said something else: "Last login"'


def test_what_should_be_text_and_is_not_is_not_known(tmp_path):
    row = {"id": "abcd", "agent": 5, "name": ["a"], "cwd": {}, "pid": 7, "alarms": []}
    env = {
        "HEADCOUNT_SSH": answering(tmp_path, json.dumps({"sessions": [row]})),
        "HEADCOUNT_HOME": str(tmp_path),
    }
    (known,) = remote_hosts.ask("ws", ended=False, env=env).sessions
    assert known == {"id": "abcd", "pid": 7, "alarms": []}
    env["HEADCOUNT_SSH"] = answering(tmp_path, '{"sessions": [{"id": 5}]}')
    assert remote_hosts.ask("ws", ended=False, env=env).fault is not None


def test_watch_says_why_a_host_is_not_heard(tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\necho 'ssh: Could not resolve hostname ws' >&2; exit 255\n")
    ssh.chmod(0o755)
    for program, why in ((str(ssh), "Could not resolve hostname ws"), ("/nowhere/ssh", "could not be run")):
        heard = told_of("ws", program, tmp_path)
        assert (heard["type"], heard["host"]) == ("host.silent", "ws") and why in heard["facts"]["because"]


def told_of(host: str, ssh: str, home: Path) -> dict[str, object]:
    code = (
        "import json, queue, threading; from headcount.cli.actions import remote_hosts as w; told = queue.Queue(); "
        f"threading.Thread(target=w._there, args=({host!r}, told, w.Children()), daemon=True).start(); "
        "print(json.dumps(told.get(timeout=30)))"
    )
    env = {**os.environ, "HEADCOUNT_SSH": ssh, "HEADCOUNT_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_name_of_a_host_stands_behind_the_end_of_options():
    words = remote_hosts.command("ws", "ps", "--json", env={})
    assert words[0] == "ssh" and words[words.index("--") + 1] == "ws"
    assert "BatchMode=yes" in words
