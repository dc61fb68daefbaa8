"""The contract of file events, on inotify, on polling and on both together."""

import asyncio
import os
from pathlib import Path

import pytest

from headcount import times
from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_IGNORED,
    IN_MOVED_TO,
    IN_Q_OVERFLOW,
    FileEvent,
    FileEvents,
    open_file_events,
)
from headcount.system.files.choose import ScarceFileEvents
from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.polling import PollingFileEvents
from tests.rig.kernel.file_watchers import WANTED, Told, refuse_watch, until


async def test_written_moved_and_removed_files_are_told(events: FileEvents, tmp_path: Path) -> None:
    told = Told()
    (tmp_path / "old").write_text("x")
    events.watch(tmp_path, WANTED, told)
    (tmp_path / "new").write_text("x")
    (tmp_path / "old").unlink()
    (tmp_path.parent / "aside").write_text("y")
    (tmp_path.parent / "aside").rename(tmp_path / "moved")
    await until(lambda: "moved" in told.names(IN_MOVED_TO) and "new" in told.names(IN_CLOSE_WRITE))
    await until(lambda: "old" in told.names(IN_DELETE))


async def test_a_file_that_grew_is_told(events: FileEvents, tmp_path: Path) -> None:
    told = Told()
    (tmp_path / "log").write_text("x")
    events.watch(tmp_path, IN_CLOSE_WRITE, told)
    with open(tmp_path / "log", "a") as file:
        file.write("more")
    await until(lambda: told.names(IN_CLOSE_WRITE) == {"log"})


async def test_only_what_was_asked_for_is_told(events: FileEvents, tmp_path: Path) -> None:
    told, all_told = Told(), Told()
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "gone").write_text("x")
    events.watch(tmp_path, IN_DELETE, told)
    events.watch(other, IN_CREATE, all_told)
    (tmp_path / "new").write_text("x")
    (tmp_path / "gone").unlink()
    (other / "seen").write_text("x")
    await until(lambda: all_told.names(IN_CREATE) == {"seen"})
    await until(lambda: told.lists)
    assert [event.name for listed in told.lists for event in listed] == ["gone"]


async def test_after_its_end_a_watch_is_told_nothing(events: FileEvents, tmp_path: Path) -> None:
    told, witness = Told(), Told()
    other = tmp_path / "other"
    other.mkdir()
    end = events.watch(tmp_path, WANTED, told)
    end()
    end()
    events.watch(other, WANTED, witness)
    (tmp_path / "a").write_text("x")
    (other / "b").write_text("x")
    await until(lambda: witness.lists)
    assert not told.lists


async def test_a_removed_directory_ends_its_watch(events: FileEvents, tmp_path: Path) -> None:
    told = Told()
    inner = tmp_path / "inner"
    inner.mkdir()
    end = events.watch(inner, WANTED, told)
    inner.rmdir()
    await until(lambda: told.names(IN_IGNORED) == {""})
    assert told.names(IN_DELETE_SELF) == {""}
    inner.mkdir()
    events.watch(inner, WANTED, told)
    end()  # of the first, which is over
    (inner / "again").write_text("x")
    await until(lambda: "again" in told.names(IN_CLOSE_WRITE))


async def test_a_missing_directory_is_an_error_at_once(events: FileEvents, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events.watch(tmp_path / "nowhere", WANTED, Told())


async def test_a_callback_that_raises_hurts_nobody_else(events: FileEvents, tmp_path: Path) -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    told = Told()
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()

    def bad(_: list[FileEvent]) -> None:
        raise ValueError("no")

    events.watch(one, WANTED, bad)
    events.watch(other, WANTED, told)
    (one / "x").write_text("x")
    (other / "x").write_text("x")
    await until(lambda: told.lists and faults)


async def test_one_read_is_one_list_in_order(tmp_path: Path) -> None:
    events, told = InotifyEvents(asyncio.get_running_loop()), Told()
    events.watch(tmp_path, WANTED, told)
    for number in range(100):
        (tmp_path / f"{number}").write_text("x")
    await until(lambda: told.lists)
    assert [event.name for event in told.lists[0]] == [str(number) for number in range(100)]
    events.close()


async def test_an_overflow_is_told_to_everybody_so_that_each_looks_again(tmp_path: Path) -> None:
    """The queue holds max_queued_events; more than that are made while the loop does not read."""
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        most = int(file.read())
    events, told, second, elsewhere = InotifyEvents(asyncio.get_running_loop()), Told(), Told(), Told()
    events.watch(tmp_path, IN_CREATE | IN_DELETE, told)
    events.watch(tmp_path, IN_CLOSE_WRITE, second)
    events.watch(tmp_path.parent, IN_CLOSE_WRITE, elsewhere)
    for number in range(most // 2 + 10):
        os.close(os.open(tmp_path / f"{number}", os.O_CREAT | os.O_WRONLY))
        os.unlink(tmp_path / f"{number}")
    await until(lambda: all(None in each.names(IN_Q_OVERFLOW) for each in (told, second, elsewhere)))
    events.close()


async def test_inotify_is_chosen_here_and_polling_where_it_cannot_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    chosen = open_file_events(loop)
    assert isinstance(chosen, ScarceFileEvents)
    chosen.close()

    def refuse(*_: object) -> int:
        raise OSError(24, "too many")

    monkeypatch.setattr("headcount.system.libc.call", refuse)
    assert isinstance(open_file_events(loop), PollingFileEvents)


async def test_a_path_without_a_watch_is_looked_at_and_goes_back_to_the_kernel_when_watched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times, "POLL_EVERY", 0.02)
    events, told, other = ScarceFileEvents(asyncio.get_running_loop()), Told(), Told()
    right = events._kernel.watch
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    events.watch(tmp_path / "one", WANTED, other)
    monkeypatch.setattr(events._kernel, "watch", refuse_watch)
    end = events.watch(tmp_path / "two", WANTED, told)
    events.watch(tmp_path / "two", WANTED, Told())()
    assert events.polled() == 1
    (tmp_path / "one" / "a").write_text("x")
    (tmp_path / "two" / "b").write_text("x")
    await until(lambda: other.names(WANTED) == {"a"} and told.names(WANTED) == {"b"})
    monkeypatch.setattr(events._kernel, "watch", right)
    events.watch(tmp_path / "two", WANTED, other)
    end()
    assert events.polled() == 0
    (tmp_path / "two" / "c").write_text("x")
    await until(lambda: "c" in other.names(WANTED))
    assert told.names(WANTED) == {"b"}
    events.close()


async def test_another_fault_of_the_kernel_is_not_hidden(tmp_path: Path) -> None:
    events = ScarceFileEvents(asyncio.get_running_loop())
    with pytest.raises(FileNotFoundError):
        events.watch(tmp_path / "nowhere", WANTED, Told())
    assert events.polled() == 0
    events.close()
