"""What a path is for a process behind mounts, by real processes in real namespaces and roots."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.bounded_thread import BoundedThreads
from headcount.core.values.process import ProcessIdentity
from headcount.daemon.identity import host_paths as edge
from headcount.daemon.identity.host_paths import HostPaths
from headcount.system.clock import SystemClock
from headcount.system.mount_namespaces import is_ours, label_of, ourselves, real_path
from headcount.system.processes import procfs
from tests.rig.agents.in_bwrap import behind, needs_bwrap

pytestmark = needs_bwrap
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="mounting and chroot need root")

NOBODY = 65534
WAITS = "echo here; read x"


def identity(pid: int) -> ProcessIdentity:
    with procfs.open_directory(pid) as directory:
        stat = procfs.read_stat(directory)
    assert stat is not None
    return ProcessIdentity("boot", 0, pid, stat.started)


class Waiting:
    """A process behind those words, until the test is over."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen([*words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "here\n"
        below = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self.identity = identity(int(below[0]) if below else self._process.pid)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("shared", "one", "there"):
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / "f.txt").write_text(name)
    (tmp_path / "shared/to-there").symlink_to(tmp_path / "there/f.txt")
    (tmp_path / "shared/to-shared").symlink_to(tmp_path / "shared/f.txt")
    (tmp_path / "shared/nowhere").symlink_to(tmp_path / "there/missing")
    (tmp_path / "shared/magic").symlink_to(f"/proc/self/root{tmp_path}/shared/f.txt")
    (tmp_path / "alias").symlink_to(tmp_path / "shared")
    return tmp_path


@pytest.fixture
def inner(place: Path) -> Iterator[ProcessIdentity]:
    """It sees `one` under the name `there`, and the rest as it is."""
    process = Waiting(*behind((place / "one", place / "there")), "sh", "-c", WAITS)
    yield process.identity
    process.end()


@pytest.mark.parametrize(
    ("named", "is_"),
    [
        ("shared/f.txt", "shared/f.txt"),
        ("shared/below/not/yet", "shared/below/not/yet"),
        ("alias/f.txt", "shared/f.txt"),
        ("shared/to-shared", "shared/f.txt"),
        ("one/f.txt", "one/f.txt"),
        ("there", None),
        ("there/f.txt", None),
        ("there/not/yet", None),
        ("there/below", None),
        ("shared/to-there", None),  # a link that leads elsewhere for it
        ("shared/nowhere", None),
        ("shared/magic", None),
    ],
)
def test_a_name_is_the_hosts_only_where_it_leads_to_the_same_file(
    inner: ProcessIdentity, place: Path, named: str, is_: str | None
) -> None:
    found = real_path(inner, f"{place}/{named}")
    if is_ is not None:
        assert found == f"{place}/{is_}"
    else:
        assert found == f"{label_of(inner)}:{place}/{named}" and not is_ours(found)
    assert real_path(ourselves(), f"{place}/{named}") == os.path.realpath(f"{place}/{named}")


def test_a_process_that_is_gone_or_another_or_not_known_names_nothing_of_ours(place: Path) -> None:
    process = Waiting("sh", "-c", WAITS)
    path, it = f"{place}/shared/f.txt", process.identity
    assert label_of(it) == "" and real_path(it, path) == path
    assert it.started is not None
    earlier = ProcessIdentity("boot", 0, it.pid, it.started - 1)
    for who in (earlier, None):
        assert not is_ours(real_path(who, path))
    process.end()
    assert not is_ours(real_path(it, path))
    with pytest.raises(ProcessLookupError):
        label_of(it)


def test_a_namespace_of_its_own_with_the_same_mounts_shows_the_hosts_files(place: Path) -> None:
    process = Waiting(*behind(), "sh", "-c", WAITS)
    assert label_of(process.identity).startswith("ns-")
    assert real_path(process.identity, f"{place}/there/f.txt") == f"{place}/there/f.txt"
    process.end()


def test_a_file_system_of_its_own_under_the_same_name_is_not_the_hosts(place: Path) -> None:
    words = behind(more=("--tmpfs", str(place / "there")))
    process = Waiting(*words, "sh", "-c", f"echo new >{place}/there/f.txt; {WAITS}")
    assert not is_ours(real_path(process.identity, f"{place}/there/f.txt"))
    assert not is_ours(real_path(process.identity, f"{place}/there/none"))
    process.end()


@needs_root
def test_an_overlay_over_the_same_directory_is_not_the_hosts(place: Path) -> None:
    (place / "upper").mkdir()
    (place / "work").mkdir()
    there = place / "there"
    mount = f"mount -t overlay o -o lowerdir={there},upperdir={place}/upper,workdir={place}/work {there}"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("no overlay file system here")
    process = Waiting("unshare", "-m", "sh", "-c", f"{mount}; {WAITS}")
    for name in ("f.txt", "", "below", "new"):
        assert not is_ours(real_path(process.identity, f"{there}/{name}")), name
    process.end()


@needs_root
def test_another_root_without_another_namespace_is_not_the_hosts(place: Path) -> None:
    inner = place / "jail" / str(place).lstrip("/") / "shared"
    inner.mkdir(parents=True)
    (inner / "f.txt").write_text("of the jail")
    code = f"import os, sys; os.chroot({str(place / 'jail')!r}); print('here', flush=True); sys.stdin.read()"
    process = Waiting(sys.executable, "-c", code)
    found = real_path(process.identity, f"{place}/shared/f.txt")
    assert found == f"ns-?{process.identity.pid}:{place}/shared/f.txt"
    process.end()


def as_nobody(ask: Callable[[], str]) -> str:
    """What it returns to a process of that user, which has no rights beyond its own."""
    readable, writable = os.pipe()
    if (child := os.fork()) == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        os.write(writable, ask().encode())
        os._exit(0)
    os.close(writable)
    with open(readable) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@needs_root
def test_a_process_whose_root_may_not_be_opened_is_known_by_its_mount_table() -> None:
    """An agent may make itself undumpable; then its own user may not follow `/proc/PID/root`."""
    undumpable = "import ctypes; ctypes.CDLL(None).prctl(4, 0); print('here', flush=True); input()"
    words = (
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        "/usr/bin/python3",
        "-c",
        undumpable,
    )
    host, inner = Waiting(*words), Waiting("unshare", "-m", *words)
    try:
        for it, is_host in ((host.identity, True), (inner.identity, False)):
            refused = as_nobody(lambda pid=it.pid: str(os.access(f"/proc/{pid}/root/", os.F_OK)))  # type: ignore[misc]
            assert refused == "False", "the control: what would have been asked cannot be"
            label = as_nobody(lambda it=it: label_of(it))  # type: ignore[misc]
            found = as_nobody(lambda it=it: real_path(it, "/etc/passwd"))  # type: ignore[misc]
            assert (label == "", is_ours(found)) == (is_host, is_host)
    finally:
        host.end()
        inner.end()


async def test_files_that_hang_are_labelled_in_time_and_not_asked_again_at_once(
    inner: ProcessIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked = threading.Event(), []

    def hang(process: ProcessIdentity, path: str) -> str:
        asked.append(path)
        answers.wait(20)
        return path

    nothing: Any = None
    looks = BoundedThreads("look")
    spaces = HostPaths(nothing, looks, SystemClock())
    monkeypatch.setattr(edge, "real_path", hang)
    monkeypatch.setattr(edge, "WORKTREE_WITHIN", 0.05)
    try:
        for _ in range(3):
            found = await spaces.named_by(inner, ["/mnt/away/f"])
            assert found == {"/mnt/away/f": f"{label_of(inner)}:/mnt/away/f"}
        assert asked == ["/mnt/away/f"]
    finally:
        answers.set()
