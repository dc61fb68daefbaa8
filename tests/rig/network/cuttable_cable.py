"""A line that is a network of its own: a namespace with one end of a cable, cut as a machine's cable is.

Rules of this file
  1. Who is put into the namespace reaches our side of the cable and nothing else.
  2. Cut cleanly: there is no route, and what was open is closed. Silently: both ends drop everything. Deaf: what
     is sent arrives, and no answer comes back. Down: the interface itself is.
  3. It needs root, `ip`, `tc` and `nsenter`, and says what is missing. It touches only links that it made.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
import uuid

from tests.rig.network.cuttable_proxy import CLEAN, SILENT, WHOLE

DEAF, DOWN = "deaf", "down"
NETWORK = "10.213.0.0/16"  # addresses that are unused here
TOOLS = ("ip", "tc", "nsenter")
_numbers = itertools.count(os.getpid() % 16_000)


class Cable:
    def __init__(self, port: int = 0) -> None:
        self.port = port
        number = next(_numbers) % 16_384
        self.host, self._far = (f"10.213.{number >> 6}.{(number & 63) * 4 + nth}" for nth in (1, 2))
        self._space = f"hc-{uuid.uuid4().hex[:8]}"
        self._near, self._end = f"{self._space}n", f"{self._space}f"
        self.wrapper = ("nsenter", f"--net=/run/netns/{self._space}")
        _run("ip", "netns", "add", self._space)
        try:
            _run(
                "ip",
                "link",
                "add",
                self._near,
                "type",
                "veth",
                "peer",
                "name",
                self._end,
                "netns",
                self._space,
            )
            _run("ip", "addr", "add", f"{self.host}/30", "dev", self._near)
            _run("ip", "link", "set", self._near, "up")
            self._inside("addr", "add", f"{self._far}/30", "dev", self._end)
            self._inside("link", "set", "lo", "up")
            self._inside("link", "set", self._end, "up")
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> "Cable":
        return self

    def __exit__(self, *_: object) -> None:
        for words in (("link", "del", self._near), ("netns", "del", self._space)):
            subprocess.run(["ip", *words], stderr=subprocess.DEVNULL, check=False)

    def cut(self, how: str) -> None:
        if how == CLEAN:
            with contextlib.suppress(FileNotFoundError):  # without `ss` the ends find out by themselves
                words = [*self.wrapper, "ss", "-K", "dst", self.host]
                subprocess.run(words, capture_output=True, check=False)
            self._inside("route", "replace", "unreachable", f"{self.host}/32")
        if how in (SILENT, DEAF):
            _run("tc", "qdisc", "replace", "dev", self._near, "root", "pfifo", "limit", "0")
        if how == SILENT:
            _run("tc", "-n", self._space, "qdisc", "replace", "dev", self._end, "root", "pfifo", "limit", "0")
        if how == DOWN:
            self._inside("link", "set", self._end, "down")
        if how == WHOLE:
            self.mend()

    def mend(self) -> None:
        self._inside("link", "set", self._end, "up")
        for words in (
            ["ip", "-n", self._space, "route", "del", "unreachable", f"{self.host}/32"],
            ["tc", "qdisc", "del", "dev", self._near, "root"],
            ["tc", "-n", self._space, "qdisc", "del", "dev", self._end, "root"],
        ):
            subprocess.run(words, stderr=subprocess.DEVNULL, check=False)  # it may not have been cut so

    def _inside(self, *words: str) -> None:
        _run("ip", "-n", self._space, *words)


def why_not() -> str | None:
    """None: cables can be laid here."""
    if os.getuid() != 0:
        return "network namespaces need root"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} is missing"
    try:
        with Cable() as cable:
            cable.cut(SILENT)
            cable.mend()
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd[:4])}: {error.stderr.decode().strip()}"
    return None


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
