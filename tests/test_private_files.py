"""Files of ours, and what somebody put in their place. Each with what a plain `open` does."""

import os
from pathlib import Path

import pytest

from headcount import private_files
from headcount.paths import Places

SECRET = "somebody's"


def planted(tmp_path: Path, kind: str) -> tuple[Path, Path]:
    """The place, and what lies at its other end."""
    place, victim = tmp_path / "place", tmp_path / "victim"
    victim.write_text(SECRET)
    {"link": lambda: place.symlink_to(victim), "second name": lambda: os.link(victim, place),
     "pipe": lambda: os.mkfifo(place), "link to nothing": lambda: place.symlink_to(tmp_path / "new")}[kind]()  # fmt: skip
    return place, victim


KINDS = ["link", "second name", "pipe", "link to nothing"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opened", [private_files.open_to_append, private_files.open_anew])
def test_nothing_is_written_through_what_was_planted(tmp_path: Path, kind: str, opened) -> None:
    place, victim = planted(tmp_path, kind)
    with open(opened(str(place)), "w") as file:
        file.write("ours")
    assert victim.read_text() == SECRET and not (tmp_path / "new").exists()
    assert place.read_text() == "ours" and not place.is_symlink()


def test_a_plain_open_writes_through(tmp_path: Path) -> None:
    place, victim = planted(tmp_path, "link")
    with open(place, "a") as file:
        file.write("ours")
    assert victim.read_text() != SECRET


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_is_read_through_it_and_nobody_waits(tmp_path: Path, kind: str) -> None:
    place, _ = planted(tmp_path, kind)
    with pytest.raises(OSError):
        private_files.read(str(place), 100)


def test_what_is_ours_is_kept_and_read(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_text("before ")
    with open(private_files.open_to_append(str(place)), "a") as file:
        file.write("after")
    assert private_files.read(str(place), 100) == b"before after"


def test_a_directory_of_another_user_or_of_everybody_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places.below(str(tmp_path / "home"))
    places.make()
    for mode in (
        0o777,
        0o1777,
        0o770,
    ):  # where a directory is sticky, others can still put a file of their own
        Path(places.state).chmod(mode)
        with pytest.raises(OSError, match="may write in it"):
            places.make()
    Path(places.state).chmod(0o755)
    places.make()
    mine = os.getuid()
    monkeypatch.setattr(private_files.os, "getuid", lambda: mine + 1)
    with pytest.raises(OSError, match="another user"):
        places.make()


def test_a_mailbox_that_leads_elsewhere_is_refused_and_a_home_that_does_is_not(tmp_path: Path) -> None:
    """What cannot be read in a mailbox is removed: a link to a directory of documents would empty it."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    places = Places.below(str(tmp_path / "home"))
    places.make()
    Path(places.mailbox).rmdir()
    Path(places.mailbox).symlink_to(tmp_path)
    with pytest.raises(OSError, match="leads elsewhere"):
        places.make()


def test_a_directory_above_in_which_everybody_may_write_is_refused_unless_it_is_sticky(
    tmp_path: Path,
) -> None:
    places = Places.below(str(tmp_path / "above" / "home"))
    places.make()
    (tmp_path / "above").chmod(0o777)
    with pytest.raises(OSError, match="everybody may write") as refused:
        places.make()
    assert refused.value.filename == str(tmp_path / "above")
    (tmp_path / "above").chmod(0o1777)
    places.make()


def test_a_file_that_others_may_write_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.write_text("x")
    place.chmod(0o602)
    with pytest.raises(OSError, match="others may write it"):
        private_files.read(str(place), 100)
    place.chmod(0o660)
    monkeypatch.setattr(private_files, "_is_alone_in", lambda group: False)
    with pytest.raises(OSError, match="others may write it"):
        private_files.read(str(place), 100)
    monkeypatch.setattr(private_files, "_is_alone_in", lambda group: True)
    assert private_files.read(str(place), 100) == b"x", (
        "as editors leave it where each user has a group of their own"
    )


def test_only_a_group_of_ones_own_name_without_others_is_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd
    from types import SimpleNamespace

    me = pwd.getpwuid(os.getuid()).pw_name
    for name, members, alone in (
        (me, [], True),
        (me, [me], True),
        (me, ["ann"], False),
        ("staff", [], False),
    ):
        monkeypatch.setattr(
            grp, "getgrgid", lambda _, n=name, m=members: SimpleNamespace(gr_name=n, gr_mem=m)
        )
        assert private_files._is_alone_in(1) is alone


def test_a_directory_below_one_that_a_group_may_write_in_is_refused(tmp_path: Path) -> None:
    """Whoever may write in it can put another directory, or a link, in the place of ours."""
    team = tmp_path / "team"
    home = team / "home"
    home.mkdir(parents=True, mode=0o700)
    team.chmod(0o775)
    os.chown(team, os.getuid(), 65534)
    with pytest.raises(OSError, match="a group may write in it"):
        private_files.check_directory(str(home))
    team.chmod(0o1775)
    private_files.check_directory(str(home))
