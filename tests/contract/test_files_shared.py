"""Several watches of one directory: each is its own, whatever the others ask, do or suffer."""

import asyncio
import threading
from pathlib import Path

import pytest

from headcount import times
from headcount.system.files import (
    IN_CLOSE_WRITE,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_IGNORED,
    EndWatch,
    FileEvent,
    FileEvents,
    OnFileEvents,
    await_directory,
    polling,
)
from headcount.system.files.inotify import InotifyEvents
from headcount.system.files.polling import PollingFileEvents
from tests.rig.kernel.file_watchers import ALIKE, WANTED, Told, until


def watches_of_the_kernel(events: InotifyEvents) -> int:
    return Path(f"/proc/self/fdinfo/{events._inotify}").read_text().count("inotify wd:")


def write(directory: Path, name: str) -> None:
    (directory / name).write_text("x")


async def test_two_watchers_of_one_path_are_both_told_each_what_it_asked_for(
    events: FileEvents, tmp_path: Path
) -> None:
    made, removed = Told(), Told()
    write(tmp_path, "old")
    events.watch(tmp_path, IN_CREATE, made)
    events.watch(tmp_path, IN_DELETE, removed)
    write(tmp_path, "new")
    (tmp_path / "old").unlink()
    await until(lambda: made.lists and removed.lists)
    assert [event.name for listed in made.lists for event in listed] == ["new"]
    assert [event.name for listed in removed.lists for event in listed] == ["old"]


async def test_two_watches_with_one_callback_are_still_two(events: FileEvents, tmp_path: Path) -> None:
    told = Told()
    events.watch(tmp_path, IN_CREATE, told)
    end = events.watch(tmp_path, IN_CREATE, told)
    write(tmp_path, "a")
    await until(lambda: len(told.lists) == 2)
    end()
    write(tmp_path, "b")
    await until(lambda: "b" in told.names(IN_CREATE))
    assert len(told.lists) == 3


@pytest.mark.parametrize("ended", [0, 1])
async def test_the_end_of_one_watch_leaves_the_other(events: FileEvents, tmp_path: Path, ended: int) -> None:
    told = Told(), Told()
    ends = [events.watch(tmp_path, WANTED, each) for each in told]
    ends[ended]()
    ends[ended]()
    write(tmp_path, "a")
    await until(lambda: told[1 - ended].names(WANTED) == {"a"})
    assert not told[ended].lists


@pytest.mark.parametrize("ended", ["real", "link"])
async def test_one_directory_by_two_names_tells_both(events: FileEvents, tmp_path: Path, ended: str) -> None:
    """The kernel numbers them alike, and what the second asks for would replace what the first did."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    write(real, "old")
    told = {"real": Told(), "link": Told()}
    ends = {
        "real": events.watch(real, IN_CLOSE_WRITE, told["real"]),
        "link": events.watch(link, IN_CLOSE_WRITE | IN_DELETE, told["link"]),
    }
    write(real, "new")
    (link / "old").unlink()
    await until(lambda: all("new" in each.names(IN_CLOSE_WRITE) for each in told.values()))
    await until(lambda: told["link"].names(IN_DELETE) == {"old"})
    assert not told["real"].names(IN_DELETE)
    ends.pop(ended)()
    (other,) = ends
    write(real, "more")
    await until(lambda: "more" in told[other].names(IN_CLOSE_WRITE))
    assert "more" not in told[ended].names(IN_CLOSE_WRITE)


async def test_a_watcher_that_fails_does_not_rob_another_of_the_same_path(
    events: FileEvents, tmp_path: Path
) -> None:
    faults: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["message"]))
    before, after = Told(), Told()

    def bad(_: list[FileEvent]) -> None:
        raise ValueError("no")

    for each in (before, bad, after):
        events.watch(tmp_path, WANTED, each)
    write(tmp_path, "a")
    await until(lambda: before.names(WANTED) == after.names(WANTED) == {"a"} and faults)
    write(tmp_path, "b")
    await until(lambda: before.names(WANTED) == after.names(WANTED) == {"a", "b"} and len(faults) > 1)
    assert set(faults) == {f"a file watch on {tmp_path} failed in its callback"}


async def test_a_watcher_may_end_itself_and_others_while_it_is_told(
    events: FileEvents, tmp_path: Path
) -> None:
    """Whoever of the first two is told first ends both; the third is told all the same."""
    ended, last = Told(), Told()

    def end_both(told: list[FileEvent]) -> None:
        ended(told)
        for end in ends:
            end()

    ends = [events.watch(tmp_path, WANTED, end_both) for _ in range(2)]
    events.watch(tmp_path, WANTED, last)
    write(tmp_path, "a")
    await until(lambda: last.names(WANTED) == {"a"})
    await until(lambda: ended.lists)
    write(tmp_path, "b")
    await until(lambda: "b" in last.names(WANTED))
    assert [{event.name for event in listed} for listed in ended.lists] == [{"a"}]


async def test_a_watcher_may_close_everything_while_it_is_told(events: FileEvents, tmp_path: Path) -> None:
    told = Told()

    def close(listed: list[FileEvent]) -> None:
        told(listed)
        events.close()

    end, _ = events.watch(tmp_path, WANTED, close), events.watch(tmp_path, WANTED, close)
    write(tmp_path, "a")
    await until(lambda: told.lists)
    end()
    assert len(told.lists) == 1


# who looks does not see that a directory went and came between two looks
@pytest.mark.parametrize("events", ALIKE, indirect=True)
async def test_a_removed_directory_ends_every_watch_and_each_may_watch_the_next(
    events: FileEvents, tmp_path: Path
) -> None:
    """The first to hear of it makes it again, as the mailbox does; what others ended or kept is not touched."""
    inner = tmp_path / "inner"
    inner.mkdir()
    again, other = Told(), Told()

    def make_again(told: list[FileEvent]) -> None:
        again(told)
        if any(event.mask & IN_IGNORED for event in told):
            inner.mkdir()
            events.watch(inner, WANTED, again)

    events.watch(inner, WANTED, make_again)
    end = events.watch(inner, IN_DELETE_SELF, other)
    inner.rmdir()
    await until(lambda: again.names(IN_IGNORED) == other.names(IN_IGNORED) == {""})
    end()
    write(inner, "a")
    await until(lambda: "a" in again.names(IN_CLOSE_WRITE))
    assert not other.names(IN_CLOSE_WRITE)


async def test_the_kernels_watch_is_shared_and_goes_with_the_last(tmp_path: Path) -> None:
    events = InotifyEvents(asyncio.get_running_loop())
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    names = ("real", "real", "link")
    ends = [events.watch(tmp_path / name, WANTED, Told()) for name in names]
    for end in ends:
        assert watches_of_the_kernel(events) == 1
        end()
    assert watches_of_the_kernel(events) == 0
    events.close()


async def test_nothing_is_kept_of_a_directory_that_is_gone(tmp_path: Path) -> None:
    events, told = InotifyEvents(asyncio.get_running_loop()), Told()
    (tmp_path / "inner").mkdir()
    for _ in range(2):
        events.watch(tmp_path / "inner", WANTED, told)
    (tmp_path / "inner").rmdir()
    await until(lambda: len(told.lists) == 2)
    assert not events._watches
    events.close()


async def test_a_path_that_leads_elsewhere_now_is_told_of_both_directories(tmp_path: Path) -> None:
    events, before, now = InotifyEvents(asyncio.get_running_loop()), Told(), Told()
    place, aside = tmp_path / "place", tmp_path / "aside"
    place.mkdir()
    end = events.watch(place, WANTED, before)
    place.rename(aside)
    place.mkdir()
    events.watch(place, WANTED, now)
    write(aside, "old")
    write(place, "new")
    await until(lambda: before.lists and now.lists)
    assert (before.names(WANTED), now.names(WANTED)) == ({"old"}, {"new"})
    end()
    write(place, "newer")
    await until(lambda: "newer" in now.names(WANTED))
    assert watches_of_the_kernel(events) == 1
    events.close()


async def test_who_comes_during_a_look_is_not_told_of_what_it_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The listing under way is older than the newcomer's own: its files would seem to have vanished."""
    monkeypatch.setattr(times, "POLL_EVERY", 0.02)
    listed, go_on, right = threading.Event(), threading.Event(), polling._list_all

    def slowly(paths: set[Path]) -> polling.Listings:
        listings = right(paths)
        listed.set()
        go_on.wait(10)
        return listings

    monkeypatch.setattr(polling, "_list_all", slowly)
    events, first, late = PollingFileEvents(asyncio.get_running_loop()), Told(), Told()
    events.watch(tmp_path, IN_CREATE | IN_DELETE, first)
    await until(listed.is_set)
    write(tmp_path, "a")
    events.watch(tmp_path, IN_CREATE | IN_DELETE, late)
    go_on.set()
    await until(lambda: first.names(IN_CREATE) == {"a"})
    write(tmp_path, "b")
    await until(lambda: late.lists and "b" in first.names(IN_CREATE))
    assert [event.name for told in late.lists for event in told] == ["b"]
    events.close()


async def test_a_path_is_listed_once_however_many_watch_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times, "POLL_EVERY", 0.02)
    events, told = PollingFileEvents(asyncio.get_running_loop()), [Told() for _ in range(5)]
    for each in told:
        events.watch(tmp_path, WANTED, each)
    assert events.polled() == 1
    listed: list[Path] = []
    passes: list[int] = []
    one, all_of_them = polling.list_directory, polling._list_all

    def list_one(path: Path) -> polling.Listing:
        listed.append(path)
        return one(path)

    def list_all(paths: set[Path]) -> polling.Listings:
        before = len(listed)
        listings = all_of_them(paths)
        passes.append(len(listed) - before)
        return listings

    monkeypatch.setattr(polling, "list_directory", list_one)
    monkeypatch.setattr(polling, "_list_all", list_all)
    write(tmp_path, "a")
    await until(lambda: passes and all(each.lists for each in told))
    events.close()
    assert set(passes) == {1}


async def test_those_who_await_directories_below_one_are_each_told_of_theirs(
    events: FileEvents, tmp_path: Path
) -> None:
    looks: list[str] = []
    for name in ("one", "two", "deep/three"):
        await_directory(events, tmp_path / name, lambda name=name: looks.append(name))
    write(tmp_path, "other")
    (tmp_path / "two").mkdir()
    await until(lambda: looks)
    assert looks == ["two"]
    (tmp_path / "deep").mkdir()
    await until(lambda: "deep/three" in looks)
    (tmp_path / "two").rmdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one").mkdir()
    await until(lambda: "one" in looks)
    assert looks == ["two", "deep/three", "one"]


async def test_one_that_was_made_before_the_watch_began_is_not_awaited_in_vain(
    events: FileEvents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    right = events.watch

    def late(path: Path, mask: int, callback: OnFileEvents) -> EndWatch:
        (tmp_path / "awaited").mkdir()
        return right(path, mask, callback)

    monkeypatch.setattr(events, "watch", late)
    await_directory(events, tmp_path / "awaited", lambda: looks.append("look"))
    assert looks == ["look"]


async def test_a_cut_off_way_is_told_to_those_who_await_its_end(events: FileEvents, tmp_path: Path) -> None:
    looks: list[str] = []
    (tmp_path / "above").mkdir()
    await_directory(events, tmp_path / "above" / "awaited", lambda: looks.append("look"))
    (tmp_path / "above").rmdir()
    await until(lambda: looks)
