"""Directories of registries that come, go and come again: each is read when it is there."""

import asyncio
from pathlib import Path
from typing import Any

from headcount.daemon.intake.registries import Registries
from headcount.system.files import open_file_events


class Reading:
    """A registry whose entries are only noted."""

    def __init__(self) -> None:
        self.read_paths: list[Path] = []
        self.registry = self

    def roots(self, env: Any, home: Path) -> list[Path]:
        return [home / "one", home / "deep" / "two"]

    def directory(self, root: Path) -> Path:
        return root / "sessions"

    def is_entry_name(self, name: str) -> bool:
        return name.endswith(".json")

    def read(self, path: Path) -> None:
        self.read_paths.append(path)


async def _until_read(reading: Reading, path: Path) -> None:
    async with asyncio.timeout(5):
        while path not in reading.read_paths:
            await asyncio.sleep(0.01)


async def test_every_root_is_seen_when_it_is_made_also_below_the_same_directory(tmp_path: Path) -> None:
    files, reading = open_file_events(asyncio.get_running_loop()), Reading()
    unused: Any = None
    registries = Registries(unused, unused, unused, files, unused, unused)
    try:
        registries.open(reading, {}, tmp_path)  # type: ignore[arg-type]
        for root in reading.roots({}, tmp_path):
            sessions = reading.directory(root)
            sessions.mkdir(parents=True)
            (sessions / "7.json").write_text("{}")
            await _until_read(reading, sessions / "7.json")
        assert sorted(registries.directories) == sorted(map(reading.directory, reading.roots({}, tmp_path)))
    finally:
        files.close()


async def test_one_that_was_removed_is_read_again_when_it_comes_back(tmp_path: Path) -> None:
    files, reading = open_file_events(asyncio.get_running_loop()), Reading()
    unused: Any = None
    sessions = tmp_path / "one" / "sessions"
    sessions.mkdir(parents=True)
    registries = Registries(unused, unused, unused, files, unused, unused)
    try:
        registries.open(reading, {}, tmp_path)  # type: ignore[arg-type]
        sessions.rmdir()
        async with asyncio.timeout(5):
            while sessions in registries.directories:
                await asyncio.sleep(0.01)
        sessions.mkdir()
        (sessions / "8.json").write_text("{}")
        await _until_read(reading, sessions / "8.json")
    finally:
        files.close()
